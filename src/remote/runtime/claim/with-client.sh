# Which jobs no slot here begins any more. Runs in the spool; is_logged is in logs.sh.

# True if it was taken back before, perhaps by this client, whose connection was lost before the answer.
is_with_client() {
  taker=
  { read -r taker <"jobs/$1/claim"; } 2>/dev/null
  [ "$taker" = client ]
}

# Status 1: it was not; any other status but 0: unknown.
was_freed() {
  is_logged "freed $1"
}

# returned: prints all keys that were ever taken back.
returned() {
  for dir in jobs/*; do
    if is_with_client "${dir#jobs/}"; then echo "taken ${dir#jobs/}"; fi
  done
}

# absent KEY…: prints the keys that are not here and were not freed here either: they went to another spool.
absent() {
  for key; do
    [ ! -d "jobs/$key" ] || continue
    was_freed "$key"
    [ $? != 1 ] || echo "absent $key"
  done
}
