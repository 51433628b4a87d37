# Moves excluded results out of a job's work/ into aside/ beside it. Runs with $spool set.

# list_results KEY…: prints each path below the jobs' work/, directories with a slash at the end. A path with a newline
# matches no pattern, and is collected.
list_results() {
  cd "$spool/jobs" || return 1
  for key; do
    [ -d "$key/work" ] || continue
    find "$key/work" ! -path "$key/work" -type d -exec sh -c 'for path; do printf "%s/\n" "$path"; done' sh {} + 2>/dev/null
    find "$key/work" ! -type d -print 2>/dev/null
  done
  return 0
}

# Reads paths that end with NUL. A path that cannot be moved stays in the results. Below aside/<number>/ each keeps its
# path, so that the next attempt can use it (slot/kept-dir.sh).
move_aside() {
  cd "$spool/jobs" || return 1
  xargs -0 sh -c 'for path; do
    number=$((number + 1)) below=${path#*/work/}
    to=${path%%/*}/aside/$$.$number/$below
    mkdir -p -- "${to%/*}" && mv -- "$path" "$to"
  done' sh
  return 0
}
