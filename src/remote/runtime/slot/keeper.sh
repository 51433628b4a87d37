# The keeper: a subshell of the loop that takes jobs and runs them, one after the other.

keep() {
  read -r keeper _ <"$proc/self/stat"
  start_of "$keeper"
  keeper_line="$keeper $started $here"
  # From here on another loop waits for us, so that it is known who works here before anything is taken.
  until echo "$keeper_line" >"$mine/keeper"; do make_room; done
  find_ancestors
  # The job writes to it, under another umask.
  true >>"$mine/job"
  copied=
  { read -r copied <"$mine/copied"; } 2>/dev/null
  work_through
  tell
  # Whatever the last job came to: nobody has killed us.
  exit 0
}

# Job names sort in file order. New ones that arrive meanwhile are found on the next pass.
work_through() {
  for dir in jobs/*; do
    is_waiting || continue
    has_loop || return
    until has_room_now; do
      wait_for_room
      has_loop || return
      is_waiting || continue 2
    done
    said=
    take && run_job
  done
}

# Without a loop, nothing takes over if the keeper is killed as well: it takes no job.
has_loop() {
  kill -0 $$ 2>/dev/null
}

# Creating the claim is taking the job: of two slots, or a slot and a client that takes back, one succeeds.
take() {
  set -C
  { true >"$dir/claim"; } 2>/dev/null
  taken=$?
  set +C
  [ "$taken" = 0 ] || return 1
  if echo "slot $slot" >"$dir/claim"; then
    # Were we that slow, another loop has taken it over, and given it up.
    [ ! -e "$dir/exit" ]
    return
  fi
  # A full disk lets a file be made, but not written: it is nobody's again.
  rm -f "$dir/claim"
  wait_for_disk
  return 1
}

run_job() {
  key=${dir#jobs/}
  attempt=$batch/$key.
  job='' watchdog='' is_put_back=''
  # What was handed over a moment before the machine went down may be on its disk in name only.
  if ! name_tree; then
    end_with lost 0
    return
  fi
  until echo "$keeper_line $key" >"$mine/keeper"; do make_room; done
  owner=$key
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
  wind_up "$code" $((now - begun))0
}

# wind_up CODE MILLISECONDS
wind_up() {
  code=$1
  [ -e "$dir/timed-out" ] && code=timed-out
  [ -e "$dir/stopped" ] && code=stopped
  if ! keep_results 2>>"$dir/err"; then
    echo "sshoal: the results of this job could not be kept: $spool/$mine/work" >>"$dir/err"
    [ "$code" != 0 ] || code=125
  fi
  end_with "$code" "$2"
}

end_with() {
  [ "$1" = 0 ] || tell_full_disk
  # Valid only with its newline, so a torn write is no exit code; on a full disk it is tried until there is room.
  until echo "$1" >"$dir/exit"; do make_room; done
  # When a job cannot begin, the end of the job before it is not reported yet.
  untold="${untold:+$untold
}ended ${dir#jobs/} $slot $1 $2"
  [ "$1" = 0 ] || tell
}
