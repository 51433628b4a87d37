# Prints whether anything goes on in a spool, and changes nothing. Runs in the spool, after lib.sh and logs.sh.

# pulse: prints which event logs there are, and how many processes of slots live, here or elsewhere.
pulse() {
  find_logs
  echo "logs$logs"
  alive=0
  for process in slots/*/loop slots/*/keeper slots/*/job; do
    is_dead "$process" || alive=$((alive + 1))
  done
  echo "alive $alive"
}

# tell_taken: prints the attempts that a client has taken back: no slot begins them.
tell_taken() {
  for dir in jobs/*; do
    taker=
    { read -r taker <"$dir/claim"; } 2>/dev/null
    [ "$taker" != client ] || echo "taken ${dir#jobs/}"
  done
}

# tell_absent KEY…: prints which of these attempts are not here, and never were.
tell_absent() {
  for key; do
    [ ! -d "jobs/$key" ] || continue
    is_logged "freed $key"
    [ $? != 1 ] || echo "absent $key"
  done
}
