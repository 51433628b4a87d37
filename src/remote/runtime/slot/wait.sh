# Waits for room, and reports the reason.

wait_for_room() {
  tell
  [ "$reason" = "$said" ] || say "waiting $slot $reason"
  said=$reason
  doze
}

# Sleeps five seconds, or until no job waits. After the batch is removed, the loop ends within a second.
doze() {
  for second in 1 2 3 4 5; do
    sleep 1
    is_any_waiting || return 0
  done
}

is_any_waiting() {
  is_in_place || return 1
  ! is_waiting "$dir" || return 0
  for each in jobs/*; do
    ! is_waiting "$each" || return 0
  done
  return 1
}

wait_for_disk() {
  reason="the disk is full: $PWD"
  wait_for_room
}
