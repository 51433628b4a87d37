
proc=/proc
read -r boot_id <"$proc/sys/kernel/random/boot_id"
read -r host <"$proc/sys/kernel/hostname"
base=$HOME/.sshoal
[ -w "$base" ] && is_own "$base" || base=$root
lock=$base/lock@$host
here=$boot_id@$host

start_of() {
  { read -r stat_line <"$proc/$1/stat"; } 2>/dev/null || return 1
  set -f
  set -- ${stat_line##*) }
  set +f
  [ "$1" != Z ] && parent=$2 started=${20}
}

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

is_dead() {
  is_live "$1"
  [ $? = 1 ]
}

is_running() {
  runner=
  { read -r _ runner <"jobs/$1/claim"; } 2>/dev/null
  [ -n "$runner" ] || return 1
  is_live "slots/$runner/job"
  set -- "$1" $?
  [ "$live_job" = "$1" ] || { is_live "jobs/$1/pid"; return; }
  return "$2"
}

is_shared() {
  for shared in slots/*/loop; do
    is_live "$shared"
    [ $? != 2 ] || return 0
  done
  return 1
}

is_for() {
  [ -e "slots/$1/room" ] || return 0
  job_kind=- slot_kind=-
  { read -r job_kind <"$2/own"; } 2>/dev/null
  read -r slot_kind <"slots/$1/room"
  [ "$job_kind" = "$slot_kind" ]
}

uptime_now() {
  read -r up _ <"$proc/uptime"
  now=${up%.*}${up#*.}
}


with_lock() {
  open_lock "$1"
  take_lock
  shift
  "$@" 9>&-
  lock_status=$?
  free_lock
  return "$lock_status"
}

open_lock() {
  lock_file=$1
  ! has_flock || exec 9>>"$lock_file"
}

take_lock() {
  if has_flock; then
    flock 9
    return
  fi
  start_of $$
  waiter="$$ $started $here"
  until name_holder; do
    free_dead_lock
  done
}

free_lock() {
  if has_flock; then exec 9>&-; else rm -f "$lock_file.held"; fi
}

has_flock() {
  command -v flock >/dev/null 2>&1
}

name_holder() {
  set -- "${1:-$lock_file.held}"
  { echo "$waiter" >"$lock_file.new.$$" && ln "$lock_file.new.$$" "$1"; } 2>/dev/null ||
    { [ ! -e "$1" ] && (set -C && echo "$waiter" >"$1") 2>/dev/null; }
  is_named=$?
  rm -f "$lock_file.new.$$"
  return "$is_named"
}

free_dead_lock() {
  if name_holder "$lock_file.freeing"; then
    remove_dead "$lock_file.held"
    rm -f "$lock_file.freeing"
  else
    remove_dead "$lock_file.freeing"
  fi
}

remove_dead() {
  first_holder=$(cat "$1" 2>/dev/null)
  was_there=$?
  sleep 1
  cp "$1" "$lock_file.look.$$" 2>/dev/null || return 0
  [ "$was_there" = 0 ] && is_dead "$lock_file.look.$$" && [ "$(cat "$lock_file.look.$$")" = "$first_holder" ] && rm -f "$1"
  rm -f "$lock_file.look.$$"
}


start_slot() {
  detached sh slot.sh "$PWD" "$@" </dev/null >>"slots/$1/log" 2>&1 &
}

detached() {
  if [ -n "${in_scope-}" ] && systemd-run --user --scope --quiet true >/dev/null 2>&1; then
    exec systemd-run --user --scope --quiet setsid "$@"
  fi
  exec setsid "$@"
}

marked() {
  marked_among "${2:-SSHOAL_ATTEMPT}=$1" "$proc"/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do echo "$pid"; done
}

marked_among() {
  found=$(grep -lszF -- "$@")
  if [ -n "$found" ]; then
    echo "$found"
  else
    sleep 0.02
    grep -lszF -- "$@"
  fi
}

end_tree() {
  tries=0
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

signal_tree() {
  kill "-$1" "-$2" 2>/dev/null
  hit=$?
  kill "-$1" $(marked "$3") 2>/dev/null || return "$hit"
}

tree_lives() {
  kill -0 "-$1" 2>/dev/null || [ -n "$(marked "$2")" ]
}
