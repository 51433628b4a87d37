# Sends the output of jobs to the client.

# output LIMIT OVERLAP SURELY KEY STREAM OFFSET …: what each stream holds beyond its offset, at most LIMIT bytes of each.
# OVERLAP bytes before the offset come once more: by them the client sees whether the job has replaced its output. If the
# size is the same, they come when the file was written to since the last look, and with SURELY 1 always.
# "cut" names a stream that is shorter than its offset, "beyond" one that has reached what is kept of it (--max-output).
output() {
  limit_bytes=$1 overlap=$2 surely=$3
  shift 3
  files='' offsets=''
  while [ $# -gt 0 ]; do
    [ -e "jobs/$1/$2" ] && find_first_bytes "$1" && files="$files jobs/$1/$2" offsets="$offsets $3 $first_bytes"
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
    offset=$1 first_bytes=$2
    shift 2
    offsets=$*
    if [ "$first_bytes" != - ] && [ "$size" -gt "$first_bytes" ]; then
      print_beyond
      size=$first_bytes
    fi
    if [ "$size" -lt "$offset" ]; then
      key=${file#jobs/}
      echo "cut ${key%/*} ${key#*/}"
    elif [ "$size" -gt "$offset" ] || [ "$surely" = 1 ] || ! [ "$file" -ot "looked.$$.$((1 - look))" ]; then
      send "$file" "$offset" $((size - offset)) || exit 1
    fi
  done || exit 1
}

# ends LIMIT KEY STREAM …: prints "size KEY BYTES" for each stream that is there, at most LIMIT, then so many last bytes of each
# in one piece: the number of forks does not grow with the number of jobs. "changed" follows if a stream grew or was emptied
# meanwhile: then the sizes may be wrong.
ends() {
  limit_bytes=$1 files='' total=0
  shift
  while [ $# -gt 0 ]; do
    [ -e "jobs/$1/$2" ] && files="$files jobs/$1/$2"
    shift 2
  done
  [ -n "$files" ] || return 0
  # shellcheck disable=SC2086
  sizes=$(wc -c $files /dev/null 2>/dev/null)
  while read -r size file; do
    key=${file#jobs/}
    [ "$key" != "$file" ] || continue
    [ "$size" -le "$limit_bytes" ] || size=$limit_bytes
    echo "size ${key%/*} $size"
    total=$((total + size))
  done <<EOF
$sizes
EOF
  [ "$total" -gt 0 ] || return 0
  echo "data - err 0 $total"
  # shellcheck disable=SC2086
  tail -q -c "$limit_bytes" $files 2>/dev/null | cat - /dev/zero 2>/dev/null | head -c "$total" || exit 1
  # shellcheck disable=SC2086
  [ "$(wc -c $files /dev/null 2>/dev/null)" = "$sizes" ] || echo changed
}

# find_first_bytes KEY: sets $first_bytes: how much of each stream may be read; "-": all. While a job with a limit runs, that is the
# first half: the rest changes (slot/output-limit.sh). Asked before the sizes are: when there is an exit, the files are final.
find_first_bytes() {
  first_bytes=-
  [ -e "jobs/$1/max-output" ] && [ ! -s "jobs/$1/exit" ] || return 0
  { read -r first_bytes _ <"jobs/$1/max-output"; } 2>/dev/null
  case $first_bytes in
    '' | *[!0-9]*) first_bytes=- ;;
    *) first_bytes=$((first_bytes / 2)) ;;
  esac
}

# With its size, and the last line of it.
print_beyond() {
  key=${file#jobs/}
  last=$(tail -c 1000 "$file" 2>/dev/null | tr '\r\0' '\n\n' | sed -n '/[^ ]/p' | tail -n 1)
  printf 'beyond %s %s %s %s\n' "${key%/*}" "${key#*/}" "$size" "$last"
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
  # A job may empty its output at this moment, but the announced number of bytes must be sent. This shell starts all
  # three processes, and ends if it cannot start one of them.
  tail -c "+$((from + 1))" "$1" 2>/dev/null | cat - /dev/zero 2>/dev/null | head -c "$length"
}
