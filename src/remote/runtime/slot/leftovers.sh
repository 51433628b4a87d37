# Ends the processes that a job left behind.

# A slot's next job must find its card free: children that the job left behind end with it.
end_leftovers() {
  [ -n "$watchdog" ] && [ ! -e "$dir/timed-out" ] && kill "$watchdog" 2>/dev/null
  [ -n "$watchdog" ] && wait "$watchdog"
  watchdog=
  [ -z "$job" ] || ! has_leftovers || { end_tree "$job" "$attempt" && uptime_now; }
}

# To ask all processes takes longer than many a job: what one of less than ten seconds left is looked for among orphans.
has_leftovers() {
  kill -0 "-$job" 2>/dev/null && return 0
  find_orphans
  read -r _ _ _ _ last_pid <"$proc/loadavg"
  # Pids are given in turn: what the job started has one between its own and the last one given, unless they came round.
  has_range=yes
  if [ $((now - begun)) -ge 200 ] || [ "$last_pid" -lt "$job" ]; then has_range=; fi
  if [ $((now - begun)) -ge 1000 ] || [ -z "$ancestors$has_range" ]; then
    [ -n "$(marked "$attempt")" ]
    return
  fi
  suspects=
  if [ -n "$ancestors" ]; then suspect_orphans; else suspect_all; fi
  # shellcheck disable=SC2086
  [ -n "$suspects" ] && grep -qszF -- "SSHOAL_ATTEMPT=$attempt" $suspects
}

# Who has lost its parent becomes a child of one of our ancestors, or of the first process. None are known where it cannot
# be told whose children there are.
find_ancestors() {
  # Once more, since whoever started the loop is about to be gone.
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

# Of this user, and not about to be gone.
suspect() {
  [ ! -O "$proc/$pid/environ" ] || [ ! -e "$proc/$pid/exe" ] || suspects="$suspects $proc/$pid/environ"
}
