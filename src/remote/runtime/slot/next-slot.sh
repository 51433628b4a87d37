# Finds a slot whose loop can look for room, for slots and hand-overs. $most_slots: how many jobs the machine could ever run.

# find_next_slot SLOT: sets $next_slot to a slot without a loop, or to a new one, which SLOT reports. Fails if there is
# none. Under the lock with which a slot decides to end.
find_next_slot() {
  find_dead_slot && return
  can_grow && next_slot=$slot_count && mkdir "slots/$next_slot" 2>/dev/null && true >"slots/$next_slot/events" || return 1
  # The client follows the new log, too.
  say "added $1 $next_slot"
}

find_dead_slot() {
  slot_count=0
  for each in slots/*; do
    next_slot=${each#slots/}
    ! is_dead "$each/loop" || return 0
    slot_count=$((slot_count + 1))
  done
  return 1
}

can_grow() {
  [ "$most_slots" -gt 0 ] && [ ! -d "slots/$((most_slots - 1))" ]
}
