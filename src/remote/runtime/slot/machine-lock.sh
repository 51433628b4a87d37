# The lock that all accounts of the machine share while they claim. It is on a directory of root that every account can
# open for reading, so no account can remove it or put another file in its place.

lock_dir=${SSHOAL_CLAIMS:-/dev/shm}
[ -d "$lock_dir" ] || lock_dir=/tmp
# Whether this keeper reported that it goes on without the lock.
is_unlocked=''

# Opens this lock and the one of the account, for a child that takes them (take_locks). They belong to the descriptors 3 and 9, so
# they last until free_locks.
open_locks() {
  open_lock "$lock"
  is_open=
  ! has_flock || ! { command exec 3<"$lock_dir"; } 2>/dev/null || is_open=yes
}

# Without the lock of the machine, only slots of this account wait for each other.
take_locks() {
  take_lock
  if ! has_flock; then
    go_unlocked 'there is no flock on the machine, so jobs of several accounts may start at the same moment'
  elif [ -z "$is_open" ] || { ! flock -n 3 && ! wait_for_lock; }; then
    tell_holder
  fi
}

free_locks() {
  exec 3<&-
  free_lock
}

# Five seconds at most: a process that keeps the lock must not stop all jobs. Slots of this account wait for it
# once a minute. busybox has no -w.
wait_for_lock() {
  uptime_now
  stuck_at=
  { read -r stuck_at <"$common/.stuck"; } 2>/dev/null
  case ${stuck_at:--} in *[!0-9]*) ;; *) [ "$now" -lt "$stuck_at" ] || [ $((now - stuck_at)) -ge 6000 ] || return 1 ;; esac
  deadline=$((now + 500))
  flock -w 5 3 2>/dev/null && return 0
  until flock -n 3; do
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
  holder=", which the process $holder of $(ls -ld "$proc/$holder" 2>/dev/null | { read -r _ _ owner _ && echo "$owner"; }) has"
}

go_unlocked() {
  [ -n "$is_unlocked" ] || warn "$1"
  is_unlocked=yes
}
