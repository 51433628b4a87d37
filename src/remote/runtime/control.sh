# The control channel's other end: each line on stdin is one call of a verb below, answered between marks.
# Runs in the spool, after lib.sh and settings were read.

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

# hold CLIENT: this shell stands for the client that follows the batch. Says who else does, if it is another.
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

# look: prints "gone" when the spool was removed, also if another one is in its place by now; else which event logs it has.
look() {
  [ -e trees ] && [ -e "$spool/trees" ] || { echo gone && return; }
  find_logs
  echo "logs$logs"
}

# take_back KEY…: prints "taken" for jobs that no slot has begun, which are the client's again, and "begun" for those that it
# has or had. Prints nothing about a job of which it cannot tell. A job that never came is kept from coming late.
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

# Its directory is what keeps a job out: a hand-over puts none over another.
keep_out() {
  [ ! -d "jobs/$1" ] || return 0
  was_freed "$1"
  [ $? != 1 ] || mkdir -p "jobs/$1"
}

# Status 1: it was not; any other but 0: that is not known.
was_freed() {
  is_logged "freed $1"
}

# returned: says all that were ever taken back.
returned() {
  for dir in jobs/*; do
    if is_with_client "${dir#jobs/}"; then echo "taken ${dir#jobs/}"; fi
  done
}

# absent KEY…: says which are not here, and were not freed here either: this is not the spool that they came to.
absent() {
  for key; do
    [ ! -d "jobs/$key" ] || continue
    was_freed "$key"
    [ $? != 1 ] || echo "absent $key"
  done
}

# claim_for TAKER KEY: fails when the job is taken. The name is not needed for the taking: a full disk lets a file
# be made, but not written.
claim_for() {
  set -C
  { true >"jobs/$2/claim"; } 2>/dev/null
  claimed=$?
  set +C
  [ "$claimed" != 0 ] || echo "$1" >"jobs/$2/claim"
  return "$claimed"
}

# Taken back before: by us, perhaps, when the link was lost before the answer.
is_with_client() {
  taker=
  { read -r taker <"jobs/$1/claim"; } 2>/dev/null
  [ "$taker" = client ]
}

# stop KEY…: what nobody has begun ends at once; the process trees of the others end in the background, and their
# keepers write how. Says what was taken back and is not here any more.
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

# The client that stopped it may have been killed before all was written.
end_stopped() {
  is_logged "ended $1 .*" || end_unbegun "$1"
}

end_unbegun() {
  echo stopped >"jobs/$1/exit"
  say "ended $1 0 stopped 0"
}

# halt: the client that follows the batch now is to stop all of it; one that comes later is not.
halt() {
  { read -r holder_pid _ <holder; } 2>/dev/null && say "halting $holder_pid"
}

# A job that was taken a moment ago has no process yet, and is not given one once it is marked.
stop_begun() {
  true >"jobs/$1/stopped"
  tries=0
  until [ -s "jobs/$1/exit" ] || has_process "$1" || [ ! -d "jobs/$1" ] || [ "$tries" -ge 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  is_running "$1" && end_tree "$live_pid" "$batch/$1."
}

# Here or elsewhere. A process elsewhere is left alone: that host finds the mark.
has_process() {
  is_running "$1"
  [ $? != 1 ]
}

# drain: no slot takes another job; those that run finish.
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
