# Ends the processes that a job left behind. Shared in this file: $orphans and $suspects, lists of pids and of files in
# /proc; $has_range, whether the pids of the job's children are between $job and $last_pid.

# The next job must find its card free.
end_leftovers() {
  [ -n "$watchdog" ] && [ ! -e "$dir/timed-out" ] && kill "$watchdog" 2>/dev/null
  [ -n "$watchdog" ] && wait "$watchdog"
  watchdog=
  [ -z "$job" ] || ! has_leftovers || { end_tree "$job" "$attempt" && uptime_now; }
}

# Checking all processes takes longer than a short job. So after a job of less than ten seconds, only orphans are
# checked.
has_leftovers() {
  kill -0 "-$job" 2>/dev/null && return 0
  find_orphans
  read -r _ _ _ _ last_pid <"$proc/loadavg"
  # The kernel gives pids in order: those of the job's children are between its own and the last one given, unless the
  # numbers wrapped.
  has_range=yes
  if [ $((now - begun)) -ge 200 ] || [ "$last_pid" -lt "$job" ]; then has_range=; fi
  if [ $((now - begun)) -ge 1000 ] || [ -z "$ancestors$has_range" ]; then
    [ -n "$(marked "$attempt")" ]
    return
  fi
  suspects=
  if [ -n "$ancestors" ]; then suspect_orphans; else suspect_all; fi
  # shellcheck disable=SC2086
  [ -n "$suspects" ] && [ -n "$(marked_among "SSHOAL_ATTEMPT=$attempt" $suspects)" ]
}

# An orphan becomes a child of one of the keeper's ancestors, or of process 1. $ancestors is empty if the kernel does
# not list children.
find_ancestors() {
  # Twice, because the process that started the loop may end in the meantime.
  climb || climb || ancestors=
}

climb() {
  ancestors=1 parent=$$
  [ -r "$proc/1/task/1/children" ] || return 1
  while start_of "$parent" || return 1; do
    [ "$parent" -gt 1 ] || return 0
    [ -r "$proc/$parent/task/$parent/children" ] || return 1
    ancestors="$ancestors $parent"
  done
}

find_orphans() {
  orphans=
  for ancestor in $ancestors; do
    children=
    { read -r children <"$proc/$ancestor/task/$ancestor/children"; } 2>/dev/null
    orphans="$orphans $children"
  done
}

suspect_orphans() {
  for pid in $orphans; do
    [ -n "$has_range" ] && { [ "$pid" -le "$job" ] || [ "$pid" -gt "$last_pid" ]; } || suspect
  done
}

suspect_all() {
  pid=$job
  while [ "$pid" -lt "$last_pid" ]; do
    pid=$((pid + 1))
    suspect
  done
}

# Only processes of this account that have not ended.
suspect() {
  [ ! -O "$proc/$pid/environ" ] || [ ! -e "$proc/$pid/exe" ] || suspects="$suspects $proc/$pid/environ"
}
