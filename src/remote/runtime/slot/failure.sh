# Finds out why a job failed, beyond its exit code, and adds it to $facts.

cgroups=/sys/fs/cgroup
# How often the kernel had killed a process for lack of memory at the last look; empty: unknown or not looked yet.
seen_in_cgroup='' seen_on_machine='' has_looked=''

# find_cause CODE: a code that is no number is a word for what a slot did to the job.
find_cause() {
  tell_full_disk
  case $1 in *[!0-9]*) return ;; esac
  if was_killed_in_scope "$1"; then
    note_seen_kills
    facts="$facts oom=certain"
  elif [ "$1" = 137 ]; then
    find_oom_kill
  fi
  find_failed_setup
  find_last_words
}

# begin.sh notes a job that ended in its setup lines.
find_failed_setup() {
  whose='' during=''
  { read -r whose _ during <"$mine/code"; } 2>/dev/null
  [ "$whose $during" != "$attempt setup" ] || facts="$facts setup=failed"
}

# tr, because grep prints no line of a text that has NULs.
find_last_words() {
  [ -s "$dir/err" ] || [ -s "$dir/out" ] || return 0
  words='(CUDA|HIP) out of memory|(CUDA|HIP) error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|hipErrorOutOfMemory'
  words="$words|cudaErrorMemoryAllocation|(cuda|hip)Malloc.*out of memory|torch(\\.cuda)?\\.OutOfMemoryError"
  words="$words|RESOURCE_EXHAUSTED: Out of memory|OOM when allocating tensor.*GPU|CU(BLAS|DNN)_STATUS_ALLOC_FAILED"
  found=$(tail -c 4096 "$dir/err" "$dir/out" 2>/dev/null | tr -d '\000' | grep -oE "$words|No space left on device")
  case $found$facts in *disk=full*) ;; *'No space left'*) facts="$facts disk=full" ;; esac
  case $found in *[Mm]emory* | *MEMORY* | *OOM* | *ALLOC*) facts="$facts gpu-memory=yes" ;; esac
}

# The first look comes with the first job of a keeper. Later looks come only after a SIGKILL, because a look reads some
# hundred lines. So a kill of another job of this cgroup since the last look counts, too.
note_oom_kills() {
  [ -z "$has_looked" ] || return 0
  has_looked=yes
  note_seen_kills
}

note_seen_kills() {
  count_oom_kills
  seen_in_cgroup=$in_cgroup seen_on_machine=$on_machine
}

# No slot sent the signal: jobs that were stopped or ran out of time do not end with a number.
find_oom_kill() {
  count_oom_kills
  if [ -n "$seen_in_cgroup" ] && [ "${in_cgroup:-0}" -gt "$seen_in_cgroup" ]; then
    facts="$facts oom=certain"
  elif [ -n "$seen_on_machine" ] && [ "${on_machine:-0}" -gt "$seen_on_machine" ]; then
    facts="$facts oom=likely"
  fi
  seen_in_cgroup=$in_cgroup seen_on_machine=$on_machine
}

# Sets $in_cgroup, for the cgroup of this process, which jobs share, and $on_machine.
count_oom_kills() {
  in_cgroup='' on_machine=''
  while IFS=: read -r _ names path; do
    # A container may see a path that exists outside only. Then its own cgroup is the root that it sees.
    case ,$names, in
      *,memory,*) read_oom "$cgroups/memory$path/memory.oom_control" || read_oom "$cgroups/memory/memory.oom_control" ;;
      ,,) read_oom "$cgroups$path/memory.events" || read_oom "$cgroups/memory.events" ;;
      *) false ;;
    esac && in_cgroup=$count
  done <"$proc/self/cgroup"
  ! read_oom "$proc/vmstat" || on_machine=$count
}

# read_oom FILE: sets $count to the number of its line "oom_kill". Fails if there is none.
read_oom() {
  [ -r "$1" ] || return 1
  while read -r name count; do
    [ "$name" = oom_kill ] || continue
    case $count in '' | *[!0-9]*) return 1 ;; esac
    return 0
  done <"$1"
  return 1
}
