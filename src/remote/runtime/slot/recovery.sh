# Ends the jobs that an earlier loop or a killed keeper of this slot left.

# The job may still run, or was lost with the machine.
recover() {
  ! is_dead "$mine/keeper" || end_torn_line
  last=
  { read -r _ _ _ last <"$mine/job"; } 2>/dev/null
  see_to_begun
  # The keeper of an earlier loop may have taken another job just when its loop was killed.
  if is_kept; then
    while is_kept; do sleep 1; done
    see_to_begun
  fi
  choose_job "jobs/$last"
  [ ! -s "$dir/exit" ] || tell_end
  empty_claim
  # The changes in work/ since then are unknown, so the next job gets a new copy.
  note_copied ''
}

see_to_begun() {
  for each in jobs/*; do
    [ -e "$each/claim" ] && [ ! -s "$each/exit" ] || continue
    choose_job "$each"
    who='' taker=''
    read -r who taker <"$dir/claim"
    case $who in
      slot) [ "$taker" = "$slot" ] && see_to_end named ;;
      '') is_shared || { sleep 1 && with_lock "$lock" take_over && sleep 1 && is_taken_over && see_to_end nameless; } ;;
    esac
  done
}

# Checks twice, because the keeper could be writing its file at this moment.
is_kept() {
  [ -s "$mine/keeper" ] && { ! is_dead "$mine/keeper" || { sleep 0.1 && ! is_dead "$mine/keeper"; }; }
}

# A claim without a name was being made when its process was killed. No process runs the job: it is lost.
take_over() {
  [ -e "$dir/claim" ] && [ ! -s "$dir/claim" ] && echo "slot $slot" >"$dir/claim"
}

# Fails if that process was only slow and has written its name since.
is_taken_over() {
  read -r claimed <"$dir/claim" && [ "$claimed" = "slot $slot" ]
}

# see_to_end CLAIM: waits until the current job is gone, then writes how it ended: by its file "code", or as lost. CLAIM
# is "named" if the process that took it had written its name.
see_to_end() {
  took=0 is_seen='' facts=''
  while [ ! -s "$dir/exit" ] && is_under_way "$1"; do is_seen=yes && sleep 1; done
  # A job that was gone at the first check may have ended long ago, so its duration is unknown.
  [ -z "$is_seen" ] || find_age
  if [ -s "$dir/exit" ]; then
    tell_end
    return
  fi
  # If its pid is unknown, there is no group to end, only the marked processes.
  [ "$live_job" = "$key" ] || live_pid=$nobody
  [ -z "$(marked "$attempt")" ] || end_tree "$live_pid" "$attempt"
  end_watch
  owner=
  { read -r _ _ _ owner <"$mine/keeper"; } 2>/dev/null
  read_last_word
  wind_up "${code:-lost}" "$took" "$owner"
  tell
}

# Sets $took to the milliseconds since the current job began, if the start was logged in this boot.
find_age() {
  begun=$(sed -n "s/^started $key $slot \([0-9]*\) ${boot_id%%-*}\( .*\)\{0,1\}\$/\1/p" "$mine/events")
  uptime_now
  [ -z "$begun" ] || took=$((now - begun))0
}

# Sets $code. A line without its newline is incomplete. The four codes are those of the signals that are sent to all
# processes at once: such a signal may have ended the job's last command before the keeper.
read_last_word() {
  code='' whose=''
  { read -r whose code _ <"$mine/code"; } 2>/dev/null && [ "$whose" = "$attempt" ] || code=
  case $code in 129 | 130 | 137 | 143) code= ;; esac
}

is_under_way() {
  # A live keeper has the job that its slot has claimed, perhaps only since this moment.
  ! is_dead "$mine/keeper" && { [ "$live_job" = "$key" ] || [ "$1" = named ]; } && return 0
  is_running "$key"
  [ $? = 1 ] || return 0
  # It may have just begun, and not be written yet.
  [ "$live_job" != "$key" ] && [ -n "$(marked "$attempt")" ]
}

# The keeper may have been killed between writing "exit" and the event.
tell_end() {
  read -r code <"$dir/exit"
  grep -qs "^ended $key " "$mine/events" || say "ended $key $slot $code 0"
}
