# The life of the loop: it becomes the one loop of its slot, has jobs kept while there is room, and ends when none waits.

# One loop a slot: whoever comes second leaves. The first one ever, and one after a loop that came to its end, has nothing
# to recover, and looks for work at once. Unless it was started since a job has no end: its taker may have left no other trace.
become_the_loop() {
  is_live "$mine/loop" && return 1
  is_new=yes
  [ -z "$is_revived" ] || is_new=
  for trace in loop job keeper; do
    [ ! -s "$mine/$trace" ] || is_new=
  done
  # The job of a loop that was killed still uses what that one claimed.
  is_live "$mine/keeper" || is_live "$mine/job" || true >"$mine/claim"
  start_of $$
  is_unwritten=
  echo "$$ $started $boot_id" >"$mine/loop" || { is_unwritten=yes && return 1; }
  [ -n "$is_new" ] || return 0
  [ ! -e "$mine/copied" ] || note_copied ''
  has_work
}

# Ending is decided under the same lock as beginning: no job falls between a loop that is about to end
# and one that does not start because the first is still there.
has_work() {
  is_in_place || return 1
  for dir in jobs/*; do
    is_waiting || continue
    has_room=
    ! claim_room || has_room=yes
    return 0
  done
  for trace in loop claim job keeper; do
    true >"$mine/$trace"
  done
  say "idle $slot"
  return 1
}

is_waiting() {
  [ -e "$dir/command" ] && [ ! -e drain ] && [ ! -e "$dir/claim" ] && [ ! -e "$dir/own" ]
}

# A spool that is removed is moved away first, and we with it.
is_in_place() {
  [ . -ef "$spool" ]
}

# The keeper: a subshell that runs the jobs, and outlives the loop with the one it has if somebody kills that, since it
# alone learns the exit code.
have_it_kept() {
  # Ours too, so that neither end waits for the other to open, and one that is gone does not end who asks it.
  if make_fifos && command exec 5<>"$mine/run" 7<>"$mine/ask"; then
    fork_jobs <"$mine/run" 5>&- 7>&- | keep_asking &
    exec 5>&- 7>&-
  else
    keep </dev/null 5>/dev/null 6</dev/null 7>/dev/null &
  fi
  wait $! || killed=yes
  wait
  [ -z "$killed" ] || recover
  killed=
}

keep_asking() {
  exec 6<&0
  tell_changes <"$mine/ask" 2>&1 5>&- 6<&- 7>&- | keep &
  exec 5>&- 6<&- 7>&-
  wait $!
  code=$?
  wait
  exit "$code"
}

# Some a loop: of an earlier one's, somebody might still be reading.
make_fifos() {
  [ -z "$has_fifos" ] || return 0
  { [ ! -e "$mine/ask" ] || rm -f "$mine/run" "$mine/ask"; } &&
    mkfifo "$mine/run" "$mine/ask" 2>/dev/null && has_fifos=yes
}

# One bash for all jobs that need none of their own.
fork_jobs() {
  [ "$shell" = bash ] && exec bash -p fork.bash "$spool" "$slot"
}

# One du for all jobs: answers each path with its size, the newest ctime of all that is there, and the path.
tell_changes() {
  exec du -ls --time=ctime --time-style=+%s.%N --files0-from=-
}
