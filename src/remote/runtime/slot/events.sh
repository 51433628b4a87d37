# Appends to the slot's event log. The loop and its keeper write to it in turn.

say() {
  printf '%s\n' "$1" >>"$mine/events"
}

# A loop that was killed on a full disk may have left a part of a line.
end_torn_line() {
  [ ! -s "$mine/events" ] || [ -z "$(tail -c 1 "$mine/events")" ] || say ''
}

# What has ended well is told with the next start, unless that takes longer: to whoever follows, each line costs as much as
# a short job. What went wrong may have to do with a disk that is full: told before the next job takes the last of it.
tell() {
  [ -n "$untold" ] || return 0
  until say "$untold"; do
    # A part of it may be there.
    until say ''; do make_room; done
  done
  untold=
}

tell_start() {
  untold="${untold:+$untold
}started $key $slot"
  tell
}
