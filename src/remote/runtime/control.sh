# The machine's end of the control channel. Each line on stdin is one call of a verb below, answered between marks. Runs
# in the spool, after lib.sh and settings were read.

. ./claim/with-client.sh
. ./control/output.sh
. ./control/tend.sh
. ./control/free.sh
. ./control/kept.sh

serve() {
  echo ready
  while IFS= read -r request; do
    eval "$request" </dev/null
    echo "end $?"
  done
  rm -f "looked.$$."?
}

# hold CLIENT: this shell represents the client that follows the batch. Prints the holder if it is another client.
hold() {
  { read -r holder <held-by; } 2>/dev/null
  if [ "$holder" != "$1" ] && ! is_dead holder; then
    [ "$live_host" != "$host" ] || live_host=-
    echo "held $live_pid $live_host $holder"
    return
  fi
  start_of $$
  printf '%s\n' "$1" >held-by
  echo "$$ $started $here" >holder
  echo "holding $$"
}

# look: prints "gone" if the spool was removed, even if another one is in its place. Otherwise prints its event logs.
look() {
  [ -e trees ] && [ -e "$spool/trees" ] || { echo gone && return; }
  find_logs
  echo "logs$logs"
}

# take_back KEY…: prints "taken" for jobs that no slot has begun and that the client gets back, and "begun" for the
# others. Prints nothing about a job if it cannot tell. A job that never arrived is blocked from arriving late.
take_back() {
  for key; do
    keep_out "$key"
    if claim_for client "$key" || is_with_client "$key"; then
      echo "taken $key"
    elif [ -e "jobs/$key/claim" ] || was_freed "$key"; then
      echo "begun $key"
    fi
  done
}

# The directory blocks a job: a hand-over does not put a job over an existing one.
keep_out() {
  [ ! -d "jobs/$1" ] || return 0
  was_freed "$1"
  [ $? != 1 ] || mkdir -p "jobs/$1"
}

# claim_for TAKER KEY: fails if the job is taken. Creating the file takes the job, even without a name in it: on a full
# disk a file can be created, but not written.
claim_for() {
  set -C
  { true >"jobs/$2/claim"; } 2>/dev/null
  claimed=$?
  set +C
  [ "$claimed" != 0 ] || echo "$1" >"jobs/$2/claim"
  return "$claimed"
}

# stop KEY…: jobs that have not begun end at once. The process trees of the others end in the background, and their
# keepers write the outcome. Prints the keys that were taken back and are no longer here.
stop() {
  for key; do
    if claim_for stop "$key"; then
      end_unbegun "$key"
    elif is_with_client "$key"; then
      echo "missed $key"
    elif [ "$taker" = stop ]; then
      end_stopped "$key"
    elif [ ! -s "jobs/$key/exit" ]; then
      stop_begun "$key" >/dev/null 2>&1 &
    fi
  done
}

# The client that stopped it may have been killed before everything was written.
end_stopped() {
  is_logged "ended $1 .*" || end_unbegun "$1"
}

end_unbegun() {
  echo stopped >"jobs/$1/exit"
  say "ended $1 0 stopped 0"
}

# halt: asks the client that follows the batch now to stop all of it. Does not affect later clients.
halt() {
  { read -r holder_pid _ <holder; } 2>/dev/null && say "halting $holder_pid"
}

# A job that was taken a moment ago has no process yet, and does not get one once it is marked.
stop_begun() {
  true >"jobs/$1/stopped"
  tries=0
  until [ -s "jobs/$1/exit" ] || has_process "$1" || [ ! -d "jobs/$1" ] || [ "$tries" -ge 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  is_running "$1" && end_tree "$live_pid" "$batch/$1."
}

# On this host or another. A process on another host is not touched: that host finds the mark.
has_process() {
  is_running "$1"
  [ $? != 1 ]
}

# drain: no slot takes another job; running jobs finish.
drain() {
  open_log && with_lock jobs.lock close_slots
}

# undrain: slots take jobs again.
undrain() {
  [ ! -e drain ] || { open_log && with_lock jobs.lock open_slots; }
  tend >/dev/null
}

close_slots() {
  count_drains
  echo "$number" >drain
  say "draining $number"
}
