# Starts one more slot if all are busy: without it, jobs that come later would wait for one of them, even if the machine has room.

# Sets $idle. A slot that waits for room looks for these jobs, too.
find_scout() {
  most_slots=0
  { while read -r word words; do
    [ "$word" != slots ] || most_slots=$words
  done <room; } 2>/dev/null
  is_dead scout && { find_dead_slot || can_grow; } && open_log && with_lock "$lock" choose_scout
}

choose_scout() {
  ! find_next_slot 0 || idle=$next_slot
}
