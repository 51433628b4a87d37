# The control channel's other end: each line on stdin is one call of a verb below, answered between marks.
# Runs in the spool, after lib.sh and settings were read.

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
  if [ "$holder" != "$1" ] && is_live holder; then
    echo "held $live_pid $holder"
    return
  fi
  start_of $$
  printf '%s\n' "$1" >held-by
  echo "$$ $started $boot_id" >holder
  echo "holding $$"
}

# output LIMIT OVERLAP SURELY KEY STREAM OFFSET …: what each stream holds beyond its offset, at most LIMIT bytes of each.
# OVERLAP bytes before the offset come once more: by them the client sees whether the job has replaced its output. If the
# size is the same, they come when the file was written to since the last look, and with SURELY 1 always.
# "cut" names a stream that is shorter than its offset.
output() {
  limit_bytes=$1 overlap=$2 surely=$3
  shift 3
  files='' offsets=''
  while [ $# -gt 0 ]; do
    [ -e "jobs/$1/$2" ] && files="$files jobs/$1/$2" offsets="$offsets $3"
    shift 3
  done
  [ -n "$files" ] || return 0
  look=$((1 - ${look:-0}))
  { true >"looked.$$.$look"; } 2>/dev/null
  # One fork tells the sizes of them all, so that silent jobs cost nothing. Its last line is the total.
  # shellcheck disable=SC2086
  wc -c $files /dev/null | while read -r size file; do
    # shellcheck disable=SC2086
    set -- $offsets
    [ $# -gt 0 ] || break
    offset=$1
    shift
    offsets=$*
    if [ "$size" -lt "$offset" ]; then
      key=${file#jobs/}
      echo "cut ${key%/*} ${key#*/}"
    elif [ "$size" -gt "$offset" ] || [ "$surely" = 1 ] || ! [ "$file" -ot "looked.$$.$((1 - look))" ]; then
      send "$file" "$offset" $((size - offset)) || exit 1
    fi
  done || exit 1
}

# If this fails, what was announced may be missing, and the client would take the next answer for it: then the channel ends.
send() {
  length=$3
  [ "$length" -gt "$limit_bytes" ] && length=$limit_bytes
  from=$(($2 > overlap ? $2 - overlap : 0))
  length=$((length + $2 - from))
  [ "$length" -gt 0 ] || return 0
  key=${1#jobs/}
  echo "data ${key%/*} ${key#*/} $from $length"
  # A job may empty its output at this moment: so many bytes have been announced, and so many have to come. All three are
  # started by this shell, which ends if one of them cannot be.
  tail -c "+$((from + 1))" "$1" 2>/dev/null | cat - /dev/zero 2>/dev/null | head -c "$length"
}

# look: says so when the spool was removed, also if another one is in its place by now.
look() {
  [ -e events ] && [ -e "$spool/events" ] || echo gone
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
  [ -e events ] || return 1
  grep -qx "freed $1" events
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
  grep -q "^ended $1 " events || end_unbegun "$1"
}

end_unbegun() {
  echo stopped >"jobs/$1/exit"
  echo "ended $1 0 stopped 0" >>events
}

# halt: the client that follows the batch now is to stop all of it; one that comes later is not.
halt() {
  { read -r holder_pid _ <holder; } 2>/dev/null && echo "halting $holder_pid" >>events
}

# A job that was taken a moment ago has no process yet, and is not given one once it is marked.
stop_begun() {
  true >"jobs/$1/stopped"
  tries=0
  until [ -s "jobs/$1/exit" ] || is_running "$1" || [ ! -d "jobs/$1" ] || [ "$tries" -ge 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  is_running "$1" && end_tree "$live_pid" "$batch/$1."
}

# tend: starts the loops of slots that have something to do and none that does it. Prints these slots, and what each said last.
tend() {
  unfinished=''
  for place in slots/*; do
    is_live "$place/loop" && continue
    [ -n "$unfinished" ] || list_unfinished
    ! has_use_for "${place#slots/}" || revive
  done
}

# Once for all slots: there may be many jobs.
list_unfinished() {
  unfinished=' '
  for dir in jobs/*; do
    [ -e "$dir/command" ] && [ ! -s "$dir/exit" ] || continue
    taker=
    { read -r taker <"$dir/claim"; } 2>/dev/null
    if [ "$taker" = stop ]; then end_stopped "${dir#jobs/}"; else unfinished="$unfinished$dir "; fi
  done
}

revive() {
  last=
  [ ! -e "$place/log" ] || while read -r line; do last=$line; done <"$place/log"
  echo "dead ${place#slots/} $last"
  start_slot "${place#slots/}" revived
}

has_use_for() {
  for dir in $unfinished; do
    if { read -r _ taker <"$dir/claim"; } 2>/dev/null; then
      [ "$taker" != "$1" ] || return 0
    elif [ -e "$dir/claim" ] || { [ ! -e drain ] && is_for "$1"; }; then
      # The process that made a claim without a name may be gone.
      return 0
    fi
  done
  return 1
}

# drain: no slot takes another job; those that run finish.
drain() {
  true >drain
  echo draining >>events
}

# free KEY…: their results are safe elsewhere. The log remembers that they were here, or they stay, emptied.
free() {
  [ $# -gt 0 ] || return 0
  log_freed "$@" || { empty "$@" && echo >>events && log_freed "$@"; } || return 1
  with_lock events set_aside "$@"
  # Also what a call that was cut off has left.
  rm -rf removing/* 2>/dev/null || { chmod -R u+rwx removing; rm -rf removing/*; }
}

# One write for each line: what slots append must not get into the middle of one.
log_freed() {
  for key; do
    echo "freed $key" || return 1
  done >>events
}

# On a full disk the results make room for the log. The claim stays: no slot takes the job, and no hand-over brings it again.
empty() {
  for key; do
    rm -rf "jobs/$key/work" "jobs/$key/out" "jobs/$key/err" 2>/dev/null ||
      { chmod -R u+rwx "jobs/$key/work"; rm -rf "jobs/$key/work"; }
  done
}

# One rename takes a job out of the slots' sight: of one that is half removed a slot might see the command, but not the claim.
set_aside() {
  [ -d removing ] || mkdir removing
  (cd jobs && exec mv "$@" ../removing/) 2>/dev/null
}
