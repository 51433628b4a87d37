# The life of the loop: it becomes the one loop of its slot, has jobs kept while there is room, and ends when none waits.

# One loop a slot: whoever comes second leaves. The first one ever, and one after a loop that came to its end, has nothing
# to recover, and looks for work at once. Unless it was started since a job has no end: its taker may have left no other trace.
become_the_loop() {
  is_dead "$mine/loop" || return 1
  is_new=yes
  [ -z "$is_revived" ] || is_new=
  for trace in loop job keeper; do
    [ ! -s "$mine/$trace" ] || is_new=
  done
  # The job of a loop that was killed still uses what that one claimed.
  ! is_dead "$mine/keeper" || ! is_dead "$mine/job" || true >"$mine/claim"
  start_of $$
  is_unwritten=
  echo "$$ $started $here" >"$mine/loop" || { is_unwritten=yes && return 1; }
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

# The keeper runs the jobs. It is a process of its own: if the loop is killed, the keeper finishes its job, because only a parent
# learns an exit code.
have_it_kept() {
  run_keeper || recover
}

# Fails if the keeper was killed.
run_keeper() {
  keep </dev/null &
  wait $!
}
