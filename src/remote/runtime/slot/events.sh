# Appends to the slot's event log. The loop and its keeper write to it in turn.

say() {
  printf '%s\n' "$1" >>"$mine/events"
}

# A loop that was killed on a full disk may have left an incomplete line.
end_torn_line() {
  [ ! -s "$mine/events" ] || [ -z "$(tail -c 1 "$mine/events")" ] || say ''
}

# Writes the lines in $untold. The end of a successful job waits for the start of the next one, because each write costs
# the client as much as a short job. A failure is written at once: if the disk is nearly full, the next job could use
# the rest of it.
tell() {
  [ -n "$untold" ] || return 0
  until say "$untold"; do
    # A part of a line may have been written.
    until say ''; do make_room; done
  done
  untold=
}

# With the uptime in hundredths of a second and the boot id: so the client computes the start time without the machine's
# wall clock, which may be wrong.
tell_start() {
  untold="${untold:+$untold
}started $key $slot $begun ${boot_id%%-*}${given_cards:+ gpus=$given_cards}${given_parts:+ got=$given_parts}"
  tell
}

# warn TEXT: the client prints it once.
warn() {
  say "warned $slot $1"
}
