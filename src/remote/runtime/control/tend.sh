# Starts loops for slots that have work and no loop.

# tend: starts loops for slots that have something to do and no loop. Prints these slots, each with its last message. Where
# one slot waits for room, the others need not. Also prints the slots whose loops run on other hosts, which are not touched.
tend() {
  unfinished=''
  for place in slots/*; do
    is_live "$place/loop"
    case $? in
      0) ;;
      1) tend_slot ;;
      *) echo "elsewhere ${place#slots/} $live_host" ;;
    esac
  done
}

tend_slot() {
  [ -n "$unfinished" ] || list_unfinished
  ! has_use_for "${place#slots/}" || revive
}

# Once for all slots, because there may be many jobs.
list_unfinished() {
  unfinished=' '
  for dir in jobs/*; do
    [ -e "$dir/command" ] && [ ! -s "$dir/exit" ] || continue
    taker=
    { read -r taker <"$dir/claim"; } 2>/dev/null
    if [ "$taker" = stop ]; then end_stopped "${dir#jobs/}"; else unfinished="$unfinished$dir "; fi
  done
}

revive() {
  last=
  [ ! -e "$place/log" ] || while read -r line; do last=$line; done <"$place/log"
  echo "dead ${place#slots/} $last"
  start_slot "${place#slots/}" revived
}

has_use_for() {
  for dir in $unfinished; do
    if { read -r _ taker <"$dir/claim"; } 2>/dev/null; then
      [ "$taker" != "$1" ] || return 0
    elif [ -e "$dir/claim" ]; then
      # A process that made a claim without a name may be gone.
      is_shared || return 0
    elif [ ! -e drain ] && is_for "$1" "$dir" && ! is_live scout; then
      return 0
    fi
  done
  return 1
}
