# Ends the jobs that an earlier loop or a killed keeper of this slot left.

# What an earlier loop of this slot or a keeper that was killed left: the job may still run, or went down with the machine.
recover() {
  ! is_dead "$mine/keeper" || end_torn_line
  last=
  { read -r _ _ _ last <"$mine/job"; } 2>/dev/null
  see_to_begun
  # The keeper of an earlier loop may have taken another job at the moment that one was killed.
  if is_kept; then
    while is_kept; do sleep 1; done
    see_to_begun
  fi
  dir=jobs/$last
  [ ! -s "$dir/exit" ] || tell_end
  # What was done there while nobody looked is not known: the next job gets a copy of its own.
  note_copied ''
}

see_to_begun() {
  for dir in jobs/*; do
    [ -e "$dir/claim" ] && [ ! -s "$dir/exit" ] || continue
    who='' taker=''
    read -r who taker <"$dir/claim"
    case $who in
      slot) [ "$taker" = "$slot" ] && see_to_end ;;
      '') is_shared || { sleep 1 && with_lock "$lock" take_over && sleep 1 && is_taken_over && see_to_end; } ;;
    esac
  done
}

# Looked at twice: a keeper could be writing to its file at this moment.
is_kept() {
  [ -s "$mine/keeper" ] && { ! is_dead "$mine/keeper" || { sleep 0.1 && ! is_dead "$mine/keeper"; }; }
}

# A claim that says nothing was being made when the machine went down. Nobody runs the job any more: it is lost.
take_over() {
  [ -e "$dir/claim" ] && [ ! -s "$dir/claim" ] && echo "slot $slot" >"$dir/claim"
}

# Unless it was only slow, and has written its name since.
is_taken_over() {
  read -r claimed <"$dir/claim" && [ "$claimed" = "slot $slot" ]
}

# For a job without a keeper: once it is gone, its own last word counts; without one it is lost, and known to be.
see_to_end() {
  key=${dir#jobs/}
  attempt=$batch/$key.
  while [ ! -s "$dir/exit" ] && is_under_way; do sleep 1; done
  if [ -s "$dir/exit" ]; then
    tell_end
    return
  fi
  # There is no group to end, only what is marked.
  [ "$live_job" = "$key" ] || live_pid=$nobody
  [ -z "$(marked "$attempt")" ] || end_tree "$live_pid" "$attempt"
  end_watch
  owner=
  { read -r _ _ _ owner <"$mine/keeper"; } 2>/dev/null
  read_last_word
  wind_up "${code:-lost}" 0
  tell
}

# A word without its newline was torn. And what killed the keeper may have killed the job's last command first: which
# of the two it was, the job's shell cannot tell.
read_last_word() {
  code='' told=''
  { read -r told code <"$mine/code"; } 2>/dev/null && [ "$told" = "$attempt" ] || code=
  case $code in 129 | 130 | 137 | 143) code= ;; esac
}

is_under_way() {
  # A keeper that is there has what its slot has taken, if only since this moment.
  ! is_dead "$mine/keeper" && { [ "$live_job" = "$key" ] || [ "$who" = slot ]; } && return 0
  is_running "$key"
  [ $? = 1 ] || return 0
  # Begun a moment ago, and not written down yet.
  [ "$live_job" != "$key" ] && [ -n "$(marked "$attempt")" ]
}

# Its keeper may have been killed between writing how the job ended and saying so.
tell_end() {
  read -r code <"$dir/exit"
  grep -qs "^ended ${dir#jobs/} " "$mine/events" || say "ended ${dir#jobs/} $slot $code 0"
}
