# Handles a full disk: a slot must still write how its job ended. So it keeps a file of 8 kB, which it removes then.

load_ballast() {
  [ -s "$mine/ballast" ] || printf '%8192s' '' >"$mine/ballast"
}

make_room() {
  throw_ballast || sleep_on
}

throw_ballast() {
  [ -e "$mine/ballast" ] && rm -f "$mine/ballast"
}

# If the batch was removed, there is nothing to report.
sleep_on() {
  [ -d "$dir" ] && is_in_place || exit 1
  sleep 1
}

# The job's own error message may not have been written.
tell_full_disk() {
  is_disk_full || return 0
  throw_ballast
  facts="$facts disk=full"
  echo "sshoal: the disk is full here: $PWD" >>"$dir/err"
}

# Fewer than four digits means less than a MB.
is_disk_full() {
  free_kb=$(df -Pk . 2>/dev/null | tail -n 1 | { read -r _ _ _ free _; echo "$free"; })
  case $free_kb in '' | *[!0-9]* | ????*) return 1 ;; esac
}
