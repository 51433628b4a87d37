# The keeper: a subshell of the loop that takes jobs and runs them, one after the other.

keep() {
  read -r keeper _ <"$proc/self/stat"
  start_of "$keeper"
  keeper_line="$keeper $started $here"
  # Written before it takes a job: from here on another loop waits for this keeper.
  until echo "$keeper_line" >"$mine/keeper"; do make_room; done
  find_ancestors
  # Created here, because the job would create it with another umask.
  true >>"$mine/job"
  copied=
  { read -r copied <"$mine/copied"; } 2>/dev/null
  status=0
  work_through || status=$leaves
  release
  tell
  # Whatever the end of the last job was: any other status means that the keeper was killed.
  exit "$status"
}

# Keys sort in the order in which jobs start. Jobs that arrive in the meantime are found on the next pass. Fails if
# another slot waits for room already.
work_through() {
  for next in jobs/*; do
    # A later job may have run in its place.
    while is_waiting "$next"; do
      choose_job "$next"
      has_loop || return 0
      if ! has_room; then
        wait_for_room || return
        is_in_place || return 0
      elif take; then
        said=
        start_scout
        run_job
      fi
    done
  done
}

# A keeper without a loop takes no job: if the keeper were killed too, no process would report the job.
has_loop() {
  kill -0 $$ 2>/dev/null
}

# Creating the claim takes the job. Of two slots, or a slot and a client that takes back, only one succeeds.
take() {
  set -C
  { true >"$dir/claim"; } 2>/dev/null
  taken=$?
  set +C
  [ "$taken" = 0 ] || return 1
  if echo "slot $slot" >"$dir/claim"; then
    # If this took too long, another loop has taken the job over and reported it as lost.
    [ ! -e "$dir/exit" ]
    return
  fi
  # On a full disk a file can be created, but not written: the claim is withdrawn.
  rm -f "$dir/claim"
  wait_for_disk
  return 1
}

run_job() {
  job='' watchdog='' is_put_back='' facts=''
  # After a power failure, a command that was handed over just before may be empty.
  if ! name_tree; then
    end_with lost 0
    return
  fi
  until echo "$keeper_line $key" >"$mine/keeper"; do make_room; done
  begun=$now
  load_ballast
  { has_work_copy || make_work 2>>"$dir/err"; } && [ ! -e "$dir/stopped" ] && begin && run_command
  code=$?
  if [ -n "$is_put_back" ]; then
    wait_for_disk
    return
  fi
  uptime_now
  end_leftovers
  wind_up "$code" $((now - begun))0 "$key"
}

# wind_up CODE MILLISECONDS OWNER: keeps the results of the current job and writes how it ended. OWNER is the key of the
# job that work/ belongs to.
wind_up() {
  code=$1
  [ -e "$dir/timed-out" ] && code=timed-out
  [ -e "$dir/stopped" ] && code=stopped
  if ! keep_results "$3" 2>>"$dir/err"; then
    echo "sshoal: the results of this job could not be kept: $spool/$mine/work" >>"$dir/err"
    [ "$code" != 0 ] || code=125
  fi
  end_with "$code" "$2"
}

# end_with CODE MILLISECONDS
end_with() {
  cut_output
  [ "$1" = 0 ] || find_cause "$1"
  add_footprint
  # Valid only with its newline, so an incomplete write is no exit code.
  until echo "$1" >"$dir/exit"; do make_room; done
  # If a job cannot begin, the end of the job before it is not reported yet.
  untold="${untold:+$untold
}ended $key $slot $1 $2$facts"
  [ "$1" = 0 ] || tell
}
