# The life of the loop: it becomes the only loop of its slot, starts keepers while there is room, and ends when no job
# waits.

# Only one loop runs per slot; a second one exits. If the previous loop ended normally, there is nothing to recover, and
# this one looks for work at once. Except if it was started because a job has no end: the process that took the job may
# have left no other trace.
become_the_loop() {
  is_dead "$mine/loop" || return 1
  is_new=yes
  [ -z "$is_revived" ] || is_new=
  for trace in loop job keeper; do
    [ ! -s "$mine/$trace" ] || is_new=
  done
  # The job of a killed loop still uses the room that the loop claimed.
  ! is_dead "$mine/keeper" || ! is_dead "$mine/job" || true >"$mine/claim"
  start_of $$
  is_unwritten=
  echo "$$ $started $here" >"$mine/loop" || { is_unwritten=yes && return 1; }
  [ -n "$is_new" ] || return 0
  [ ! -e "$mine/copied" ] || note_copied ''
  has_work
}

# The loop decides to end under the same lock as to begin: a job that arrives in the meantime finds a loop that
# continues, or none.
has_work() {
  is_in_place || return 1
  for each in jobs/*; do
    is_waiting "$each" || continue
    choose_job "$each"
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

# is_waiting DIR: true if this slot may take the job.
is_waiting() {
  [ -e "$1/command" ] && [ ! -e drain ] && [ ! -e "$1/claim" ] && [ ! -e "$1/own" ]
}

# choose_job DIR: makes it the current job.
choose_job() {
  dir=$1 key=${1#jobs/}
  attempt=$batch/$key.
}

# A spool is moved before it is removed, together with this process.
is_in_place() {
  [ . -ef "$spool" ]
}

# The keeper runs the jobs. It is a separate process: if the loop is killed, the keeper finishes its job, because only a
# parent gets an exit code.
have_it_kept() {
  run_keeper || recover
}

# Fails if the keeper was killed.
run_keeper() {
  keep </dev/null &
  wait $!
}
