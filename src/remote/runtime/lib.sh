# Functions that slot.sh and control.sh share. Runs after own.sh. POSIX sh, with builtins where a fork would cost more
# than the work.

proc=/proc
read -r boot_id <"$proc/sys/kernel/random/boot_id"
read -r host <"$proc/sys/kernel/hostname"
# The directory that all batches of this user on this machine share, wherever their files are.
base=$HOME/.sshoal
[ -w "$base" ] && is_own "$base" || base=$root
lock=$base/lock@$host
# What a process writes after its pid and start time: the boot id and host.
here=$boot_id@$host

# start_of PID: sets $started and $parent; fails if the process is gone. A pid identifies a process only together with
# its start time.
start_of() {
  { read -r stat_line <"$proc/$1/stat"; } 2>/dev/null || return 1
  # The second field may contain spaces and brackets. After the last ")" the 20th word is the start time.
  set -f
  # shellcheck disable=SC2086
  set -- ${stat_line##*) }
  set +f
  # A zombie has ended; its parent has not noticed it yet.
  [ "$1" != Z ] && parent=$2 started=${20}
}

# is_live FILE: FILE has "pid start boot@host …" of a process. Status 0: alive; 1: dead; 2: on another host, and only
# that host can tell. A line without a host is of format 1, and of this host.
is_live() {
  live_job='' live_boot='' live_host=$host
  { read -r live_pid live_start live_boot live_job <"$1"; } 2>/dev/null || return 1
  case $live_boot in
    "$here" | "$boot_id") start_of "$live_pid" && [ "$started" = "$live_start" ] ;;
    *@"$host") return 1 ;;
    *@*) live_host=${live_boot#*@} && return 2 ;;
    *) return 1 ;;
  esac
}

# Neither alive nor on another host. Only then may another process take its place, or remove what it uses.
is_dead() {
  is_live "$1"
  [ $? = 1 ]
}

# is_running KEY: true if its slot runs it; status 2: on another host. Each slot writes its processes to the same files
# again, which costs no new files.
is_running() {
  runner=
  { read -r _ runner <"jobs/$1/claim"; } 2>/dev/null
  [ -n "$runner" ] || return 1
  is_live "slots/$runner/job"
  set -- "$1" $?
  # 0.1.0 wrote a job's process to the job's directory.
  [ "$live_job" = "$1" ] || { is_live "jobs/$1/pid"; return; }
  return "$2"
}

# True if a slot of this spool is on another host. A file that names no owner may be that slot's.
is_shared() {
  for shared in slots/*/loop; do
    is_live "$shared"
    [ $? != 2 ] || return 0
  done
  return 1
}

# is_for SLOT DIR: true if the slot takes this job. Only slots of format 2 may be for one kind of jobs.
is_for() {
  [ -e "slots/$1/room" ] || return 0
  job_kind=- slot_kind=-
  { read -r job_kind <"$2/own"; } 2>/dev/null
  read -r slot_kind <"slots/$1/room"
  [ "$job_kind" = "$slot_kind" ]
}

# Sets $now to hundredths of a second since boot. This needs no fork, and the value never jumps.
uptime_now() {
  read -r up _ <"$proc/uptime"
  now=${up%.*}${up#*.}
}

. ./lock/with-lock.sh

# start_slot SLOT [revived]: starts its loop in its own session. If a logout would end it ($in_scope), also in a scope.
start_slot() {
  detached sh slot.sh "$PWD" "$@" </dev/null >>"slots/$1/log" 2>&1 &
}

# detached COMMAND…: replaces this shell.
detached() {
  if [ -n "${in_scope-}" ] && systemd-run --user --scope --quiet true >/dev/null 2>&1; then
    exec systemd-run --user --scope --quiet setsid "$@"
  fi
  exec setsid "$@"
}

# marked ATTEMPT [VARIABLE]: prints the pids of all processes of this attempt, including those that left its group and
# session.
marked() {
  marked_among "${2:-SSHOAL_ATTEMPT}=$1" "$proc"/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do echo "$pid"; done
}

# marked_among WORD FILE…: prints which of the environments contain WORD. A process that is starting another program has
# no environment for a moment, so if none contains it, all are read again. -z: the words of an environment end with NUL,
# and busybox's grep would not look after the first.
marked_among() {
  found=$(grep -lszF -- "$@")
  if [ -n "$found" ]; then
    echo "$found"
  else
    sleep 0.02
    grep -lszF -- "$@"
  fi
}

# end_tree PID ATTEMPT: sends TERM, waits up to ten seconds, then sends KILL, to the group of PID and all marked
# processes.
end_tree() {
  tries=0
  # A process that just started has no group of its own and no mark yet, and cannot be found.
  until signal_tree TERM "$1" "$2" || ! start_of "$1" || [ "$tries" -ge 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  tries=0
  while [ "$tries" -lt 50 ] && tree_lives "$1" "$2"; do
    sleep 0.2
    tries=$((tries + 1))
  done
  tree_lives "$1" "$2" && signal_tree KILL "$1" "$2"
  return 0
}

# Fails if there was no process to signal.
signal_tree() {
  kill "-$1" "-$2" 2>/dev/null
  hit=$?
  # shellcheck disable=SC2046
  kill "-$1" $(marked "$3") 2>/dev/null || return "$hit"
}

tree_lives() {
  kill -0 "-$1" 2>/dev/null || [ -n "$(marked "$2")" ]
}
