# Finds a spool's event logs, and appends to one of them. Each slot has slots/<n>/events, and each client
# events.<host>.<n>: every log has one live writer. A spool of format 1 has one log for all, "events". Runs in the
# spool; say needs lib.sh.

# Sets $logs to the names of all logs. Client logs come first: if one of them has "freed", the slot's log already has
# "ended".
find_logs() {
  find_client_logs
  for log_file in slots/*/events; do
    [ ! -e "$log_file" ] || logs="$logs $log_file"
  done
}

find_client_logs() {
  logs=
  for log_file in events events.*; do
    [ ! -e "$log_file" ] || logs="$logs $log_file"
  done
}

# The jobs may still be on their way. A hand-over writes "trees" once all logs are there. Ends without output if that takes
# some seconds: then the client asks again after the hand-over.
await_spool() {
  tries=0
  until [ -e "$spool/trees" ]; do
    [ "$tries" -lt 50 ] || exit 0
    tries=$((tries + 1))
    sleep 0.05 2>/dev/null || { sleep 1 && tries=$((tries + 20)); }
  done
  check_own || exit 1
}

# Prints this machine's uptime and boot id, from which the client computes when a job began.
print_clock() {
  up='' boot=''
  { read -r up _ </proc/uptime && read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
  echo "clock $up $boot"
}

# is_logged PATTERN: true if a client wrote such a line. Status 1: none did; any other status but 0: unknown.
is_logged() {
  find_client_logs
  [ -n "$logs" ] || return 1
  # shellcheck disable=SC2086
  grep -qx -- "$1" $logs
}

# say LINE: appends it to this process's log. A failed write may have left a part of its line.
say() {
  open_log || return 1
  printf '%s%s\n' "$torn" "$1" >>"$log" || { torn=$newline && return 1; }
  torn=
}

# Sets $log to one that no live process writes to. The previous process may have left a part of a line.
open_log() {
  [ -z "${log-}" ] || return 0
  newline='
'
  if [ -e events ]; then log=events; else with_lock "$lock" choose_log || return 1; fi
  torn=
  [ ! -s "$log" ] || [ -z "$(tail -c 1 "$log")" ] || torn=$newline
}

choose_log() {
  number=1
  until is_dead "writer.$host.$number"; do number=$((number + 1)); done
  start_of $$
  echo "$$ $started $here" >"writer.$host.$number" && log=events.$host.$number
}

# Sets $number to the number of the current drain. Logs are read in any order, and "opened 1" does not refer to
# "draining 2".
count_drains() {
  number=
  { read -r number <drain; } 2>/dev/null
  [ -z "$number" ] || return 0
  find_client_logs
  # shellcheck disable=SC2086
  number=$(($(cat $logs /dev/null | grep -c '^opened') + 1))
}

open_slots() {
  count_drains
  rm -f drain && say "opened $number"
}
