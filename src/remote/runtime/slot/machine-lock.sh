# The lock that all accounts of the machine share while they claim. It is on a directory of root that every account can
# open for reading, so no account can remove it or put another file in its place.

lock_dir=${SSHOAL_CLAIMS:-/dev/shm}
[ -d "$lock_dir" ] || lock_dir=/tmp
# Whether this keeper reported that it goes on without the lock.
is_unlocked=''

# with_machine_lock COMMAND…: always under the lock of the account, too. Without the one of the machine, only slots of this account
# wait for each other.
with_machine_lock() {
  with_lock "$lock" under_machine_lock "$@"
}

under_machine_lock() {
  if has_flock && { command exec 9<"$lock_dir"; } 2>/dev/null && { flock -n 9 || wait_for_lock; }; then
    "$@"
    exec 9<&-
  else
    exec 9<&-
    if has_flock; then tell_holder; else go_unlocked 'there is no flock on the machine, so jobs of several accounts may start at the same moment'; fi
    "$@"
  fi
}

# Five seconds at most: a process that keeps the lock must not stop all jobs. Slots of this account wait for it
# once a minute. busybox has no -w.
wait_for_lock() {
  uptime_now
  stuck_at=
  { read -r stuck_at <"$common/.stuck"; } 2>/dev/null
  case ${stuck_at:--} in *[!0-9]*) ;; *) [ "$now" -lt "$stuck_at" ] || [ $((now - stuck_at)) -ge 6000 ] || return 1 ;; esac
  deadline=$((now + 500))
  flock -w 5 9 2>/dev/null && return 0
  until flock -n 9; do
    uptime_now
    [ "$now" -lt "$deadline" ] || { { echo "$now" >"$common/.stuck"; } 2>/dev/null; return 1; }
    sleep 0.05
  done
}

# Claims and measurements alone count then. The kernel lists the holder by device and inode of the directory.
tell_holder() {
  [ -z "$is_unlocked" ] || return 0
  holder=
  file_id=$(stat -c '%d %i' "$lock_dir" 2>/dev/null) && find_holder
  go_unlocked "jobs start without the lock on $lock_dir$holder"
}

find_holder() {
  device=${file_id% *}
  major=$((device >> 8 & 0xfff)) minor=$((device & 0xff | device >> 12 & 0xfff00))
  file_id=$(printf '%02x:%02x:%s' "$major" "$minor" "${file_id#* }")
  holder=$(sed -n "s/^[0-9]*: FLOCK .* \\([0-9][0-9]*\\) $file_id .*/\\1/p" "$proc/locks" 2>/dev/null)
  holder=${holder%%"$newline"*}
  # The lock may be of a process that has ended, whose number another one could have by now.
  [ -d "$proc/${holder:-none}" ] || { holder= && return 0; }
  # shellcheck disable=SC2012
  holder=", which the process $holder of $(ls -ld "$proc/$holder" 2>/dev/null | { read -r _ _ owner _ && echo "$owner"; }) has"
}

go_unlocked() {
  [ -n "$is_unlocked" ] || warn "$1"
  is_unlocked=yes
}
