# Makes slots faster. slot.sh is complete without it. The functions here replace four of slot.sh: run_keeper,
# run_command, remember_copy and is_as_copied. Two processes serve all jobs of a keeper, instead of two per job:
#   a bash (fork.bash) runs plain commands in forks of itself    keeper -> 5, fifo "run" -> bash -> pipe, 6 -> keeper
#   a du reports whether anything in work/ has changed           keeper -> 7, fifo "ask" -> du   -> pipe, 8 -> keeper
# If one of the two is missing or was killed, the functions of slot.sh do the work.

# Not empty if this loop has made its fifos.
has_fifos=''
# Of the keeper: "ready" once the bash has answered, and the bash's pid.
forker='' forker_pid=''
# Of the keeper: whether du answers, its last answer, and its answer about the copy in work/.
can_ask='' answer='' as_copied=''

run_keeper() {
  # The loop opens both ends, so that no process waits for the other to open, and a missing reader causes no SIGPIPE for
  # the keeper.
  if make_fifos && command exec 5<>"$mine/run" 7<>"$mine/ask"; then
    fork_jobs <"$mine/run" 5>&- 7>&- | run_keeper_with_du &
    exec 5>&- 7>&-
  else
    keep </dev/null 5>/dev/null 6</dev/null 7>/dev/null &
  fi
  wait $!
  keeper_status=$?
  wait
  return "$keeper_status"
}

# Each loop makes its own, because a process of an earlier loop might still read that loop's fifos.
make_fifos() {
  [ -z "$has_fifos" ] || return 0
  { [ ! -e "$mine/ask" ] || rm -f "$mine/run" "$mine/ask"; } &&
    mkfifo "$mine/run" "$mine/ask" 2>/dev/null && has_fifos=yes
}

fork_jobs() {
  # shellcheck disable=SC2086 # one word, or none
  [ "$shell" = bash ] && exec $politely bash -p fork.bash "$spool" "$slot"
}

run_keeper_with_du() {
  exec 6<&0
  print_changes <"$mine/ask" 2>&1 5>&- 6<&- 7>&- | keep_with_pipes &
  exec 5>&- 6<&- 7>&-
  wait $!
  code=$?
  wait
  exit "$code"
}

# Answers each path with its size, the newest ctime below it, and the path.
print_changes() {
  exec du -ls --time=ctime --time-style=+%s.%N --files0-from=-
}

keep_with_pipes() {
  exec 8<&0 </dev/null
  can_ask=yes
  keep
}

run_command() {
  if [ "$needs_own_shell" = 0 ] && can_fork; then have_it_forked; else run_in_own_shell; fi
}

# fork.bash ends at once if the environment has anything that every bash reads first.
can_fork() {
  [ -n "$forker" ] || { read -r forker forker_pid <&6 || forker=none; } 2>/dev/null
  [ "$forker" = ready ] && kill -0 "$forker_pid" 2>/dev/null
}

have_it_forked() {
  answered='' place=-
  [ -z "$runs_in_place" ] || place=@
  echo "$key $place $keeper $devices" >&5
  # While the job runs, so that this delays no job.
  note_oom_kills
  read -r answered code job <&6
  # The bash was killed, so the exit code is unknown: the loop ends the job as one whose keeper was killed.
  [ "$answered" = "$key" ] || exit 1
  return "$code"
}

remember_copy() {
  wait_for_clock
  as_copied=''
  ! ask "$mine/work" || as_copied=$answer
}

is_as_copied() {
  if [ -n "$as_copied" ] && [ "$copied" = "$boot_id whole $tree" ] && ask "$mine/work"; then
    [ "$answer" = "$as_copied" ]
  else
    can_tell && finds_no_change
  fi
}

# ask PATH: sets $answer to a line that changes with anything below PATH. Fails if du does not answer.
ask() {
  [ -n "$can_ask" ] || return 1
  answer=''
  { printf '%s\0' "$1" >&7 && read -r answer <&8; } 2>/dev/null
  case $answer in
    [0-9]*"	"[0-9]*.[0-9]*"	$1") ;;
    # An error message, or nothing. Later answers might belong to earlier questions.
    *) can_ask='' ;;
  esac
  [ -n "$can_ask" ]
}
