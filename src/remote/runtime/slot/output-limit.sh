# Bounds the output that is kept of a job with a file "max-output" (--max-output). Of each stream its first half stays, and its last
# half. While the job runs, the middle is freed on the disk. When it has ended, the two halves become the file, with a line between
# them. The job writes to files as always, so nothing here can fail it, stop it or slow it down.

# Room for that line.
mark_bytes=200
# The file systems of most machines free 4 kB at a time. It does not pay to free less than this.
least_bytes=65536

# Sets $most_bytes, $most_text and $half. Fails if the job has no limit.
read_output_limit() {
  { read -r most_bytes most_text <"$dir/max-output"; } 2>/dev/null || return
  case $most_bytes in '' | *[!0-9]*) return 1 ;; esac
  half=$((most_bytes / 2))
}

start_output_watch() {
  [ -e "$dir/max-output" ] || return 0
  watch_output &
  output_watch=$!
}

# Looks once a second. Opens the files once: after the job, others take their place.
watch_output() {
  close_pipes
  exec 2>/dev/null
  sleeper=
  trap '[ -z "$sleeper" ] || kill -KILL "$sleeper"; exit' TERM
  read_output_limit && exec 3>>"$dir/out" 4>>"$dir/err" || return
  last_sizes=''
  while nap && has_no_end && sizes=$(stat -Lc %s /proc/self/fd/3 /proc/self/fd/4); do
    [ "$sizes" != "$last_sizes" ] || continue
    last_sizes=$sizes
    # shellcheck disable=SC2086
    set -- $sizes
    free_middle 3 "$1"
    free_middle 4 "$2"
  done
}

# Fails if the sleeper was killed: end_watch does that.
nap() {
  SSHOAL_WATCH=$attempt sleep 1 &
  sleeper=$!
  wait "$sleeper" && sleeper=
}

# The keeper that would end the watch may have been killed.
has_no_end() {
  [ -e "$dir/max-output" ] && [ ! -e "$dir/exit" ]
}

# free_middle DESCRIPTOR SIZE: the file keeps its size. What is freed reads as zeros, and is neither sent nor kept. Not every file
# system can do it.
free_middle() {
  middle=$(($2 - 2 * half))
  [ "$middle" -ge "$least_bytes" ] || return 0
  fallocate -p -o "$half" -l "$middle" "/proc/self/fd/$1" || true >"$dir/unfreed"
}

# After the job, and before "exit" is written: from then on the client reads all of both files.
cut_output() {
  if [ -n "$output_watch" ]; then
    kill "$output_watch" 2>/dev/null
    wait "$output_watch"
    output_watch=
  fi
  [ -e "$dir/max-output" ] && read_output_limit || return 0
  cut_stream "$dir/out"
  cut_stream "$dir/err"
}

# cut_stream FILE: one that is too long. A file that was cut before is not: it has at most $most_bytes with its mark.
cut_stream() {
  size=0
  # busybox's wc reads all of the file.
  [ ! -e "$1" ] || size=$(stat -Lc %s "$1" 2>/dev/null || wc -c <"$1")
  [ "$size" -gt "$most_bytes" ] || return 0
  end_bytes=$((most_bytes - half - mark_bytes))
  find_mark "$1" $((size - half - end_bytes))
  { head -c "$half" "$1" && printf '%s\n' "$mark" && tail -c "$end_bytes" "$1"; } 2>/dev/null >"$1.cut" && mv "$1.cut" "$1" && return
  # On a full disk there is no room for both halves a second time: the end goes, which makes room.
  rm -f "$1.cut"
  find_mark "$1" $((size - half))
  dd if=/dev/null of="$1" bs=1 seek="$half" 2>/dev/null
  printf '%s\n' "$mark" >>"$1"
}

# find_mark FILE BYTES: sets $mark to the line that stands for what is left out, after a newline if the first half does not end with
# one.
find_mark() {
  format_bytes "$2"
  mark="[sshoal: $amount of output left out here: --max-output $most_text]"
  [ ! -e "$dir/unfreed" ] ||
    mark="$mark
[sshoal: it was on the machine's disk until the job ended: that file system does not free parts of files]"
  [ -z "$(head -c "$half" "$1" | tail -c 1)" ] || mark="
$mark"
}

# format_bytes BYTES: sets $amount: 512 B, 12.3 MB.
format_bytes() {
  tenths=$(($1 * 10)) unit=B
  for larger in kB MB GB TB; do
    [ "$tenths" -ge 10000 ] || break
    tenths=$((tenths / 1000)) unit=$larger
  done
  amount=$((tenths / 10))
  [ "$unit" = B ] || amount=$amount.$((tenths % 10))
  amount="$amount $unit"
}
