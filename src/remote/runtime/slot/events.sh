# Appends to the event log.

# One short line in one write: what several slots append never mixes.
say() {
  printf '%s\n' "$1" >>events
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
