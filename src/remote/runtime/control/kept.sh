# Directories that stay for the next attempts of their jobs.

# find_kept KEY…: prints "kept" for attempts whose directories are here, and "unable" if an older version made the slots of this
# spool, which would not use them.
find_kept() {
  grep -q make_kept_work slot.sh || echo unable
  for key; do
    [ ! -d "jobs/$key/work" ] && [ ! -d "jobs/$key/aside" ] || echo "kept $key"
  done
}

# note_kept KEY…: what they left is safe on the client, too. Prints each that has something, and how many kB.
note_kept() {
  for key; do
    [ ! -d "jobs/$key" ] || true >"jobs/$key/collected"
    set --
    for place in "jobs/$key/work" "jobs/$key/aside"; do
      [ ! -d "$place" ] || set -- "$@" "$place"
    done
    [ $# = 0 ] || du -sk "$@" 2>/dev/null | { sum=0 && while read -r kb _; do sum=$((sum + kb)); done; echo "keeps $key $sum"; }
  done
}
