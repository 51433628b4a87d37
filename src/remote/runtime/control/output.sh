# Sends the output of jobs to the client.

# output LIMIT OVERLAP SURELY KEY STREAM OFFSET …: sends the bytes of each stream after its offset, at most LIMIT of
# each. OVERLAP bytes before the offset are sent again, so that the client sees whether the job has replaced its output.
# If the size is the same, they are sent if the file was written since the last look, and always with SURELY 1. "cut"
# names a stream that is shorter than its offset.
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
  # One fork prints the sizes of all files, so that silent jobs cost nothing. Its last line is the total.
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

# If this fails, announced bytes may be missing, and the client would read the next answer as output. So the channel
# ends.
send() {
  length=$3
  [ "$length" -gt "$limit_bytes" ] && length=$limit_bytes
  from=$(($2 > overlap ? $2 - overlap : 0))
  length=$((length + $2 - from))
  [ "$length" -gt 0 ] || return 0
  key=${1#jobs/}
  echo "data ${key%/*} ${key#*/} $from $length"
  # A job may empty its output at this moment, but the announced number of bytes must be sent. This shell starts all
  # three processes, and ends if it cannot start one of them.
  tail -c "+$((from + 1))" "$1" 2>/dev/null | cat - /dev/zero 2>/dev/null | head -c "$length"
}
