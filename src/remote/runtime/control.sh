# The control channel's other end: each line on stdin is one call of a verb below, answered between marks.
# Runs in the spool, after lib.sh and settings were read.

serve() {
  echo ready
  while IFS= read -r request; do
    eval "$request" </dev/null
    echo "end $?"
  done
}

# output LIMIT KEY STREAM OFFSET …: what each stream holds beyond its offset, at most LIMIT bytes of each.
output() {
  limit_bytes=$1
  shift
  files='' offsets=''
  while [ $# -gt 0 ]; do
    [ -e "jobs/$1/$2" ] && files="$files jobs/$1/$2" offsets="$offsets $3"
    shift 3
  done
  [ -n "$files" ] || return 0
  # One fork tells the sizes of them all, so that silent jobs cost nothing. Its last line is the total.
  # shellcheck disable=SC2086
  wc -c $files /dev/null | while read -r size file; do
    # shellcheck disable=SC2086
    set -- $offsets
    [ $# -gt 0 ] || break
    offset=$1
    shift
    offsets=$*
    [ "$size" -gt "$offset" ] && send "$file" "$offset" $((size - offset))
  done
}

send() {
  length=$3
  [ "$length" -gt "$limit_bytes" ] && length=$limit_bytes
  key=${1#jobs/}
  echo "data ${key%/*} ${key#*/} $2 $length"
  tail -c "+$(($2 + 1))" "$1" | head -c "$length"
}

# take_back KEY…: of the jobs nobody has begun, says which are ours again.
take_back() {
  set -C
  for key; do
    { true >"jobs/$key/claim"; } 2>/dev/null || continue
    echo "taken $key"
    # Not needed for the taking: a full disk lets a file be made, but not written.
    echo client >|"jobs/$key/claim"
  done
  set +C
}

# stop KEY…: ends their process trees in the background, and the slot writes how they ended; what nobody has
# begun ends at once.
stop() {
  for key; do
    if [ -n "$(take_back "$key")" ]; then
      echo stopped >"jobs/$key/exit"
      echo "ended $key 0 stopped 0" >>events
    fi
    is_live "jobs/$key/pid" || continue
    true >"jobs/$key/stopped"
    end_tree "$live_pid" "$batch/$key." >/dev/null 2>&1 &
  done
}

# tend: starts the loops of slots that have something to do and none that does it.
tend() {
  for place in slots/*; do
    is_live "$place/loop" || ! has_use_for "${place#slots/}" ||
      setsid sh slot.sh "$PWD" "${place#slots/}" >>"$place/log" 2>&1 &
  done
}

has_use_for() {
  for dir in jobs/*; do
    [ -e "$dir/command" ] && [ ! -s "$dir/exit" ] || continue
    if { read -r _ taker <"$dir/claim"; } 2>/dev/null; then
      [ "$taker" != "$1" ] || return 0
    elif [ ! -e drain ]; then
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

# free KEY…: their results are safe elsewhere. The log remembers that they were here.
free() {
  for key; do
    echo "freed $key" >>events
    rm -rf "jobs/$key" 2>/dev/null || { chmod -R u+rwx "jobs/$key" && rm -rf "jobs/$key"; }
  done
}
