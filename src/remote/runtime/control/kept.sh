# Directories that stay for the next attempts of their jobs.

# find_kept KEY…: prints "kept" for attempts whose directories are here. Prints "unable" if an older version made the
# slots of this spool, because they would not use the directories.
find_kept() {
  grep -q make_kept_work slot.sh || echo unable
  for key; do
    [ ! -d "jobs/$key/work" ] && [ ! -d "jobs/$key/aside" ] || echo "kept $key"
  done
}

# note_kept KEY…: the client has a copy of these results, too. Prints each key that has files, and their size in kB.
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
