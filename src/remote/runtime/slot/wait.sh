# Waits for room, and reports why. Only one slot of a batch waits, the scout. The others end, and the scout starts one of
# them when it has found room.

# When the scout looks again, in seconds from the last look.
pause=1
# When reasons were last reported.
said_at=0

# Returns when there may be room, or when no job waits any more. Fails if another slot waits already.
wait_for_room() {
  tell
  if ! is_scout; then
    ! is_live scout || { tell_reasons; return 1; }
    # On a full disk, several slots wait.
    { echo "$keeper_line" >scout; } 2>/dev/null
  fi
  tell_reasons
  doze
}

is_scout() {
  scout_line=
  { read -r scout_line <scout; } 2>/dev/null
  [ "$scout_line" = "$keeper_line" ]
}

# Each reason once, until a job of this slot starts. Free memory changes at every look: the same reason with other amounts is
# reported once a minute.
tell_reasons() {
  uptime_now
  strip_amounts
  [ "$stripped" != "$said" ] || [ $((now - said_at)) -ge 6000 ] || return 0
  said=$stripped said_at=$now
  printf '%s\n' "$reasons" | while read -r _ words; do
    [ -z "$words" ] || say "waits $slot $words"
  done
}

# Sets $stripped to the reasons without the amounts in them.
strip_amounts() {
  stripped=
  set -f
  for word in $reasons; do
    case $word in
      memory:* | cores:* | cards:*) word=${word%%:*} ;;
      card:*:memory:*:*:* | card:*:use:*:* | card:*:amount:*:*) word=${word%:"${word#card:*:*:}"} ;;
      res:*:*:*) word=${word%:*:*} ;;
    esac
    stripped="$stripped $word"
  done
  set +f
}

# Sleeps up to five seconds: less after the first looks, and when a slot of this account frees room.
doze() {
  slept=0 freed_before=$freed
  while [ "$slept" -lt "$pause" ]; do
    sleep 1
    slept=$((slept + 1))
    is_any_waiting || return 0
    look_at_freed
    [ "$freed" = "$freed_before" ] || { pause=1 && return 0; }
  done
  [ "$pause" -ge 5 ] || pause=$((pause + 1))
}

is_any_waiting() {
  is_in_place || return 1
  ! is_waiting "$dir" || return 0
  for each in jobs/*; do
    ! is_waiting "$each" || return 0
  done
  return 1
}

# After this slot has claimed room: if jobs wait and no slot looks for more room, another slot does. Under the lock with which a
# slot decides to leave the waiting to the scout.
start_scout() {
  [ "$held" = new ] || return 0
  held=yes pause=1
  is_scout || ! is_live scout || return 0
  # As long as no slot had to wait, all slots run already.
  [ -e scout ] || can_grow || return 0
  with_lock "$lock" wake_another
}

wake_another() {
  [ ! -s scout ] || true >scout
  ! is_any_waiting || ! find_next_slot "$slot" || wake "$next_slot"
}

# wake SLOT: without the descriptors of this slot, which hold its claim and its pipes, and without its cards.
wake() {
  (
    close_pipes
    exec 4<&-
    forget_devices
    start_slot "$1"
  )
}

wait_for_disk() {
  tell
  reasons="wait $key ${kind:--} disk:-"
  tell_reasons
  is_any_waiting && sleep 1
}
