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
  # The job of a killed loop still uses the room that the loop claimed, until recovery has seen its end.
  [ -z "$is_new" ] || empty_claim
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
  if [ -z "$is_leaving" ] || ! is_live scout; then
    for each in jobs/*; do
      ! is_waiting "$each" || return 0
    done
  fi
  for trace in loop job keeper; do
    true >"$mine/$trace"
  done
  say "idle $slot"
  return 1
}

# is_waiting DIR: true if this slot may take the job.
is_waiting() {
  [ -e "$1/command" ] && [ ! -e drain ] && [ ! -e "$1/claim" ]
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
  is_leaving=
  run_keeper
  case $? in
    0) ;;
    "$leaves") is_leaving=yes ;;
    *) recover ;;
  esac
}

# The status of a keeper that found no room while another slot waits for it.
leaves=3

# Returns the status of the keeper: 0 or $leaves, or another one if it was killed.
run_keeper() {
  keep </dev/null &
  wait $!
}
