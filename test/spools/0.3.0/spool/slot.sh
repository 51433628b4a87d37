# The slot loop: sh slot.sh BATCH_DIR SLOT [revived]. Takes the next job, runs it, writes how it ended, and repeats
# until no job is left. It needs no client: its input is in files, and everything it does is written to files.

# Sets all variables that functions of several files share. Other variables are used in one file only, or hold the
# result of a function, whose comment names them.

# The slot: its number, its directory in the spool, and the directory with all spools and trees.
slot=$2 mine=slots/$2 root=${1%/batches/*}
# Not empty if the control channel started this loop because a job has no end.
is_revived=${3-}
cd "$1" || exit 1
spool=$PWD
. ./own.sh
# boot_id, host, here, proc, base, lock.
. ./lib.sh
# batch, limit, copy_unchanged, in_place, plain_slots, login_umask, login_locale.
. ./settings
# The environment of all jobs, and check_cards: the cards whose free memory is checked before each job.
. "./$mine/env"
# What a job of this slot needs: the text of the claim, and its words (read_need).
need='' need_memory='' need_gpu_memory='' need_gpu='' need_machine='' need_cards=''
shell='sh'
! command -v bash >/dev/null || shell=bash
# A pid that no process has.
nobody=2147483647

# The current job (choose_job): its directory, its key, and the mark of its processes.
dir='' key='' attempt=''
# The facts in the first line of its command, and the job for which they were read (name_tree).
tree='' tree_has_directories='' tree_is_large='' needs_own_shell='' named=''
# Its process, its watches, when it began (in hundredths of a second), and whether it was given back for lack of room.
job='' watchdog='' output_watch='' begun='' is_put_back=''
# Of the loop: whether it has nothing to recover, could not write who it is, and holds a claim.
is_new='' is_unwritten='' has_room=''
# Why there is no room, and the reason that was last reported.
reason='' said=''
# Of the keeper: its pid, its line in the file "keeper", its ancestors, and when it last checked memory and cards.
keeper='' keeper_line='' ancestors='' looked_at='' checked_at=''
# Which tree work/ is a copy of, as in the file "copied", and whether find can find changes ("yes" or "no").
copied='' find_tells=''
# Lines for the event log that are not written yet.
untold=''

# Jobs also ignore these signals, like background processes of any script. begin.sh relies on it, because bash treats
# SIGINT differently.
trap '' INT QUIT

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
  took=0 is_seen=
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
  begun=$(sed -n "s/^started $key $slot \([0-9]*\) ${boot_id%%-*}\$/\1/p" "$mine/events")
  uptime_now
  [ -z "$begun" ] || took=$((now - begun))0
}

# Sets $code. A line without its newline is incomplete. The four codes are those of the signals that are sent to all
# processes at once: such a signal may have ended the job's last command before the keeper.
read_last_word() {
  code='' whose=''
  { read -r whose code <"$mine/code"; } 2>/dev/null && [ "$whose" = "$attempt" ] || code=
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

# Reads the claim of a slot, for slots and for the probe. docs/slot.md describes its format.

# read_claim FILE: sets $memory, $cpus, $gpu_memory, $gpu_use, $gpu, $machine and $cards. Fails for an incomplete claim.
read_claim() {
  { read -r memory cpus gpu_memory gpu_use gpu machine cards _ <"$1"; } 2>/dev/null || return 1
  is_amount "$memory" && is_amount "$gpu_memory" && is_fraction "$cpus" && is_fraction "$gpu_use" || return 1
  case $gpu$machine in [01][01]) ;; *) return 1 ;; esac
  cards=${cards:--}
}

# At most nine digits, because shells calculate with it. A leading zero would make it octal, and bash would execute the
# index of an array.
is_amount() {
  case $1 in '' | *[!0-9]* | 0?* | ??????????*) return 1 ;; esac
}

is_fraction() {
  case $1 in '' | *[!0-9.]* | .* | *. | *.*.* | ????????????????*) return 1 ;; esac
}

# Claims room on the machine for the slot, beside the claims of all batches of this user.

# Reads what the jobs of this slot need: the words of a claim, and all lines, which become the claim.
read_need() {
  need=
  while IFS= read -r line; do need="$need$line
"; done <"$mine/need"
  read_claim "$mine/need" || memory=
  need_memory=$memory need_gpu_memory=$gpu_memory need_gpu=$gpu need_machine=$machine need_cards=$cards
}

# kinds.sh replaces it, for batches with jobs of several kinds.
may_claim() {
  true
}

# Other batches see the claim long before a job uses its memory. Checking and claiming happen under one lock.
claim_room() {
  [ -s "$mine/claim" ] && return 0
  may_claim || return 1
  pending=0 sessions=
  for other in "$base"/batches/*/slots/*; do
    holds_claim "$other" || continue
    clashes && return 1
    pending=$((pending + memory))
  done
  if has_memory $((need_memory + pending)) || has_memory $((need_memory + pending - $(resident_mb))); then
    write_claim
  else
    return 1
  fi
}

# An incomplete claim would count for this slot, but not for other slots.
write_claim() {
  printf '%s' "$need" >"$mine/claim" || { true >"$mine/claim" && return 1; }
}

holds_claim() {
  # A link may lead to a directory that another account has made since.
  [ -s "$1/claim" ] && [ -O "$1" ] && ! [ "$1" -ef "$mine" ] && is_live "$1/loop" || return 1
  read_claim "$1/claim" || return 1
  { read -r session _ session_boot _ <"$1/job"; } 2>/dev/null && [ "${session_boot%@"$host"}" = "$boot_id" ] && sessions="$sessions $session "
  return 0
}

# Sets $reason if the claim that was just read leaves no room for ours.
clashes() {
  holder=${other#"$base/batches/"}
  reason="the machine is reserved by ${holder%%/*}"
  [ "$machine" = 1 ] && return 0
  [ "$need_machine" = 1 ] && ! [ "${other%/slots/*}" -ef . ] && return 0
  [ "$gpu" = 1 ] || [ "$need_gpu" = 1 ] || return 1
  for card in $(echo "$need_cards" | tr , ' '); do
    reason="GPU $card is taken by ${holder%%/*}"
    case ",$cards," in *",$card,"*) [ "$card" != - ] && return 0 ;; esac
  done
  return 1
}

# lxcfs has been seen to report 0 in all: nothing is measured then, and claims alone count.
has_memory() {
  while read -r name available _; do
    [ "$name $available" = 'MemTotal: 0' ] && return 0
    [ "$name" = MemAvailable: ] || continue
    reason="memory: $1 MB wanted, $((available / 1024)) MB free"
    [ "$((available / 1024))" -ge "$1" ]
    return
  done <"$proc/meminfo"
}

# Prints the memory that the jobs of those claims already use, so that it does not count twice.
resident_mb() {
  pages=0
  set -f
  for pid in $(cd "$proc" && set +f && echo [0-9]*); do
    { read -r stat_line <"$proc/$pid/stat"; } 2>/dev/null || continue
    # shellcheck disable=SC2086
    set -- ${stat_line##*) }
    # A job leads its session, or its group in its slot's session.
    case $sessions in *" $3 "* | *" $4 "*) pages=$((pages + ${22})) ;; esac
  done
  echo $((pages * $(getconf PAGESIZE 2>/dev/null || echo 4096) / 1048576))
}

# Checks again when a job starts: memory at most every second, the cards at most every ten, because that can take a
# second.
has_room_now() {
  uptime_now
  if [ -z "$looked_at" ] || [ $((now - looked_at)) -ge 100 ]; then
    has_memory "$need_memory" || return 1
    looked_at=$now
  fi
  [ -n "$check_cards" ] || return 0
  [ -n "$checked_at" ] && [ $((now - checked_at)) -lt 1000 ] && return 0
  tell
  for card in $(echo "$check_cards" | tr , ' '); do
    # Warnings come on stdout, too: the answer is the line that is a number.
    free=$(nvidia-smi -i "$card" --query-gpu=memory.free --format=csv,noheader,nounits 2>/dev/null | sed -n '/^[0-9][0-9]*$/p')
    reason="GPU $card: its free memory cannot be read"
    case $free in '' | *[!0-9]*) return 1 ;; esac
    reason="GPU $card: $need_gpu_memory MB wanted, $free MB free"
    [ "$free" -ge "$need_gpu_memory" ] || return 1
  done
  checked_at=$now
}

# Waits for room, and reports the reason.

wait_for_room() {
  tell
  [ "$reason" = "$said" ] || say "waiting $slot $reason"
  said=$reason
  doze
}

# Sleeps five seconds, or until no job waits. After the batch is removed, the loop ends within a second.
doze() {
  for second in 1 2 3 4 5; do
    sleep 1
    is_any_waiting || return 0
  done
}

is_any_waiting() {
  is_in_place || return 1
  ! is_waiting "$dir" || return 0
  for each in jobs/*; do
    ! is_waiting "$each" || return 0
  done
  return 1
}

wait_for_disk() {
  reason="the disk is full: $PWD"
  wait_for_room
}

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
  work_through
  tell
  # 0 for any end of the last job: the keeper was not killed.
  exit 0
}

# Keys sort in the order in which jobs start. Jobs that arrive in the meantime are found on the next pass.
work_through() {
  for each in jobs/*; do
    is_waiting "$each" || continue
    choose_job "$each"
    has_loop || return
    until has_room_now; do
      wait_for_room
      has_loop || return
      is_waiting "$dir" || continue 2
    done
    said=
    take && run_job
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
  job='' watchdog='' is_put_back=''
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
  [ "$1" = 0 ] || tell_full_disk
  # Valid only with its newline, so an incomplete write is no exit code.
  until echo "$1" >"$dir/exit"; do make_room; done
  # If a job cannot begin, the end of the job before it is not reported yet.
  untold="${untold:+$untold
}ended $key $slot $1 $2"
  [ "$1" = 0 ] || tell
}

# Makes the directory that a job runs in: a copy of its tree.

# Sets $tree from the first line of the command; "-": the job begins in an empty directory; "@": it runs in place, in
# the user's own directory, which slots never change.
name_tree() {
  [ "$named" != "$dir" ] || return 0
  named=''
  tree='' tree_has_directories='' tree_is_large='' needs_own_shell=''
  { read -r _ tree tree_has_directories tree_is_large needs_own_shell <"$dir/command"; } 2>/dev/null
  case $tree in - | @) ;; *) tree=${tree:+$root/trees/$tree} ;; esac
  [ -n "$tree" ] && named=$dir
}

# A job that leaves work/ unchanged passes it on to the next one. "copied" names the tree that work/ is a copy of, and
# whether it is whole.
has_work_copy() {
  [ ! -e "$dir/keep" ] || return 1
  [ "$tree" = @ ] || { [ "$copied" = "$boot_id whole $tree" ] && is_directory "$mine/work" && is_open "$mine/work"; }
}

# A job may have replaced its directory by a link, which must never be followed.
is_directory() {
  [ -d "$1" ] && [ ! -h "$1" ]
}

is_open() {
  [ -r "$1" ] && [ -w "$1" ] && [ -x "$1" ]
}

make_work() {
  [ ! -e "$dir/keep" ] || { make_kept_work; return; }
  tell
  made=$copied
  note_copied ''
  [ "$made" = "$boot_id part $tree" ] && is_directory "$mine/work" || made=
  if { [ -z "$made" ] && ! clear_work; } || ! copy_tree "$made"; then
    clear_work
    is_disk_full && put_back && return 1
    echo "sshoal: the working directory could not be copied for this job" >&2
    return 125
  fi
  true >"$mine/fresh"
  note_copied "$boot_id whole $tree"
  [ "$tree" = - ] || remember_copy
}

# For is_as_copied, which compares work/ with its current state.
remember_copy() {
  wait_for_clock
}

# File times advance in steps of up to 10 ms, and changes by the job must be later than "fresh". Gives up after five
# checks, because some versions of [ compare only whole seconds.
wait_for_clock() {
  for try in 1 2 3 4 5; do
    true >"$mine/now"
    [ ! "$mine/now" -nt "$mine/fresh" ] || return 0
    sleep 0.005
  done
}

note_copied() {
  copied=$1
  echo "$1" 2>/dev/null >"$mine/copied"
}

# A directory that cannot be removed is moved aside, because otherwise the tree would be copied into it.
clear_work() {
  remove "$mine/work" || mv "$mine/work" "$mine/aside.$key"
}

remove() {
  ! is_there "$1" || rm -rf "$1" 2>/dev/null || { is_directory "$1" && chmod -R u+rwx "$1" && rm -rf "$1"; }
}

# copy_tree MADE: MADE is "" or describes what work/ already has, as in "copied".
copy_tree() {
  made=$1
  if [ "$tree" = - ]; then
    mkdir "$mine/work"
  elif [ "${made#* }" = "part $tree" ]; then
    set --
    for entry in "$tree"/* "$tree"/.[!.]* "$tree"/..?*; do
      is_there "$entry" && ! is_there "$mine/work/${entry##*/}" && set -- "$@" "$entry"
    done
    [ $# = 0 ] || copy -- "$@" "$mine/work/"
  else
    copy "$tree" "$mine/work"
  fi
}

# Shares blocks with the tree if the file system can. A cp without the option has copied nothing.
copy() {
  complaint=$(cp -a --reflink=auto "$@" 2>&1) && return 0
  if cp --reflink=auto --version >/dev/null 2>&1; then
    printf '%s\n' "$complaint" >&2
    return 1
  fi
  cp -a "$@"
}

is_there() {
  [ -e "$1" ] || [ -h "$1" ]
}

# Called before any of it has run: another slot or machine may have more room. The claim is removed last.
put_back() {
  rm -f "$mine/ballast" "$dir/err" "$dir/claim" && is_put_back=yes
}

# Makes the directory of a job with a file "keep" (--keep-dir). It belongs to the job from the start, so that it stays
# with the job however the job, its keeper or the machine ends. The files of earlier attempts are put over a copy of the
# tree.

make_kept_work() {
  tell
  if ! remove "$dir/making" || ! mkdir "$dir/making" || ! copy_start || ! copy_trees; then
    remove "$dir/making"
    is_disk_full && put_back && return 1
    echo "sshoal: the working directory could not be copied for this job" >&2
    return 125
  fi
  true >"$mine/fresh"
  wait_for_clock
  mv "$dir/making/work" "$dir/work" && lay_over_layers && return 0
  echo "sshoal: what the last attempt left could not be put in place for this job" >&2
  return 125
}

copy_start() {
  if [ "$tree" = - ]; then mkdir "$dir/making/work"; else copy "$tree" "$dir/making/work"; fi
}

# Runs before anything is moved, so that a full disk changes nothing.
copy_trees() {
  while read -r what name; do
    [ "$what" != tree ] || copy "$root/trees/$name" "$dir/making/$name" || return 1
  done <"$dir/keep"
}

# If this is killed halfway, some files of an attempt are with this job, and the rest is where it was. The next attempt
# gets both.
lay_over_layers() {
  while read -r what name; do
    case $what in
      tree) lay_over "$dir/making/$name" "$dir/work" || return 1 ;;
      job)
        [ -d "jobs/$name" ] || echo "sshoal: the directory of the last attempt is gone: this one starts fresh" >&2
        for layer in "jobs/$name/work" "jobs/$name/aside"/*; do
          ! is_directory "$layer" || lay_over "$layer" "$dir/work" || return 1
        done
        ;;
    esac
  done <"$dir/keep"
  remove "$dir/making"
}

# lay_over FROM TO: moves everything in FROM to TO, and replaces entries of the same name. Directories are merged. In a
# subshell, because it calls itself.
lay_over() (
  from=$1 to=$2
  set --
  for entry in "$from"/* "$from"/.[!.]* "$from"/..?*; do
    is_there "$entry" || continue
    target=$to/${entry##*/}
    if is_directory "$entry" && is_directory "$target"; then
      lay_over "$entry" "$target" || exit 1
      continue
    fi
    remove "$target" || exit 1
    set -- "$@" "$entry"
    [ $# -lt 200 ] || { mv -- "$@" "$to/" && set --; } || exit 1
  done
  [ $# = 0 ] || mv -- "$@" "$to/"
)

# Runs the command of one job.

begin() {
  [ "$tree" != @ ] || mkdir -p "$dir/work"
  tell_start
  start_watchdog
  start_output_watch
}

# Returns the exit code of the job, and sets $job to its pid.
run_command() {
  run_in_own_shell
}

# Runs in the foreground, where dash does not need to fork itself; begin.sh writes the pid. All three streams are
# redirected: otherwise a process that reads one of them would also wait for the job's children.
run_in_own_shell() {
  work=$spool/$mine/work kept=$spool/$mine/work
  [ "$tree" != @ ] || work=$in_place kept=$spool/$dir/work
  [ ! -e "$dir/keep" ] || work=$spool/$dir/work kept=$spool/$dir/work
  as_at_login
  cd "$work" 2>>"$spool/$dir/err" &&
    SSHOAL_ATTEMPT=$attempt SSHOAL_SLOT_DIR=$spool/$mine SSHOAL_BOOT=$here SSHOAL_KEEPER=$keeper SSHOAL_RESULTS=$kept \
      setsid "$shell" "$spool/$dir/command" </dev/null >>"$spool/$dir/out" 2>>"$spool/$dir/err" 5>&- 6<&- 7>&- 8<&-
  code=$?
  as_in_spool
  cd "$spool" || exit 1
  learn_job
  return "$code"
}

# A job has the umask and the locale of a login. The spool is private, and its scripts need the C locale.
as_at_login() {
  umask "${login_umask:-077}"
  unset LC_ALL
  [ -z "${login_locale-}" ] || export LC_ALL="$login_locale"
}

as_in_spool() {
  umask 077
  export LC_ALL=C
}

# Sets $job to the pid that the job's shell wrote, if it could write it.
learn_job() {
  job='' whose=''
  { read -r job _ _ whose <"$mine/job"; } 2>/dev/null
  [ "$whose" = "$key" ] || job=$nobody
}

# For processes that may outlive the keeper: closes the pipes of fast.sh, whose readers wait until no process holds
# them.
close_pipes() {
  exec 5>&- 6<&- 7>&- 8<&-
}

# Ends a job that takes longer than its limit.

start_watchdog() {
  job_limit=$limit
  [ ! -e "$dir/limit" ] || read -r job_limit <"$dir/limit"
  [ "$job_limit" -gt 0 ] || return 0
  watch "$job_limit" &
  watchdog=$!
}

# watch SECONDS
watch() {
  # Not by redirections of the call, because dash would keep copies open.
  close_pipes
  # Set before the sleeper starts, or a quick job would leave it behind; until then $! is an earlier process. KILL,
  # because a child that has not reached its exec yet can lose any other signal.
  earlier=$!
  trap '[ "$!" = "$earlier" ] || kill -KILL "$!"; exit' TERM
  SSHOAL_WATCH=$attempt sleep "$1" &
  wait $! && true >"$dir/timed-out" || return
  is_running "$key" || live_pid=$nobody
  end_tree "$live_pid" "$attempt"
}

# Ends the watchdog that a killed keeper left: without its sleeper, it ends by itself.
end_watch() {
  # shellcheck disable=SC2046
  kill $(marked "$attempt" SSHOAL_WATCH) 2>/dev/null
}

# Bounds the output that is kept of a job with a file "max-output" (--max-output). Of each stream its first half stays, and its last
# half. While the job runs, the middle is freed on the disk. When it has ended, the two halves become the file, with a line between
# them. The job writes to files as always, so nothing here can fail it, stop it or slow it down.

# Room for that line.
mark_bytes=200
# The file systems of most machines free 4 kB at a time. It does not pay to free less than this.
least_bytes=65536

# Sets $most_bytes, $most_text and $half. Fails if the job has no limit.
read_output_limit() {
  { read -r most_bytes most_text <"$dir/max-output"; } 2>/dev/null || return
  case $most_bytes in '' | *[!0-9]*) return 1 ;; esac
  half=$((most_bytes / 2))
}

start_output_watch() {
  [ -e "$dir/max-output" ] || return 0
  watch_output &
  output_watch=$!
}

# Looks once a second. Opens the files once: after the job, others take their place.
watch_output() {
  close_pipes
  exec 2>/dev/null
  sleeper=
  trap '[ -z "$sleeper" ] || kill -KILL "$sleeper"; exit' TERM
  read_output_limit && exec 3>>"$dir/out" 4>>"$dir/err" || return
  last_sizes=''
  while nap && has_no_end && sizes=$(stat -Lc %s /proc/self/fd/3 /proc/self/fd/4); do
    [ "$sizes" != "$last_sizes" ] || continue
    last_sizes=$sizes
    # shellcheck disable=SC2086
    set -- $sizes
    free_middle 3 "$1"
    free_middle 4 "$2"
  done
}

# Fails if the sleeper was killed: end_watch does that.
nap() {
  SSHOAL_WATCH=$attempt sleep 1 &
  sleeper=$!
  wait "$sleeper" && sleeper=
}

# The keeper that would end the watch may have been killed.
has_no_end() {
  [ -e "$dir/max-output" ] && [ ! -e "$dir/exit" ]
}

# free_middle DESCRIPTOR SIZE: the file keeps its size. What is freed reads as zeros, and is neither sent nor kept. Not every file
# system can do it.
free_middle() {
  middle=$(($2 - 2 * half))
  [ "$middle" -ge "$least_bytes" ] || return 0
  fallocate -p -o "$half" -l "$middle" "/proc/self/fd/$1" || true >"$dir/unfreed"
}

# After the job, and before "exit" is written: from then on the client reads all of both files.
cut_output() {
  if [ -n "$output_watch" ]; then
    kill "$output_watch" 2>/dev/null
    wait "$output_watch"
    output_watch=
  fi
  [ -e "$dir/max-output" ] && read_output_limit || return 0
  cut_stream "$dir/out"
  cut_stream "$dir/err"
}

# cut_stream FILE: one that is too long. A file that was cut before is not: it has at most $most_bytes with its mark.
cut_stream() {
  size=0
  # busybox's wc reads all of the file.
  [ ! -e "$1" ] || size=$(stat -Lc %s "$1" 2>/dev/null || wc -c <"$1")
  [ "$size" -gt "$most_bytes" ] || return 0
  end_bytes=$((most_bytes - half - mark_bytes))
  find_mark "$1" $((size - half - end_bytes))
  { head -c "$half" "$1" && printf '%s\n' "$mark" && tail -c "$end_bytes" "$1"; } 2>/dev/null >"$1.cut" && mv "$1.cut" "$1" && return
  # On a full disk there is no room for both halves a second time: the end goes, which makes room.
  rm -f "$1.cut"
  find_mark "$1" $((size - half))
  dd if=/dev/null of="$1" bs=1 seek="$half" 2>/dev/null
  printf '%s\n' "$mark" >>"$1"
}

# find_mark FILE BYTES: sets $mark to the line that stands for what is left out, after a newline if the first half does not end with
# one.
find_mark() {
  format_bytes "$2"
  mark="[sshoal: $amount of output left out here: --max-output $most_text]"
  [ ! -e "$dir/unfreed" ] ||
    mark="$mark
[sshoal: it was on the machine's disk until the job ended: that file system does not free parts of files]"
  [ -z "$(head -c "$half" "$1" | tail -c 1)" ] || mark="
$mark"
}

# format_bytes BYTES: sets $amount: 512 B, 12.3 MB.
format_bytes() {
  tenths=$(($1 * 10)) unit=B
  for larger in kB MB GB TB; do
    [ "$tenths" -ge 10000 ] || break
    tenths=$((tenths / 1000)) unit=$larger
  done
  amount=$((tenths / 10))
  [ "$unit" = B ] || amount=$amount.$((tenths % 10))
  amount="$amount $unit"
}

# Ends the processes that a job left behind. Shared in this file: $orphans and $suspects, lists of pids and of files in
# /proc; $has_range, whether the pids of the job's children are between $job and $last_pid.

# The next job must find its card free.
end_leftovers() {
  [ -n "$watchdog" ] && [ ! -e "$dir/timed-out" ] && kill "$watchdog" 2>/dev/null
  [ -n "$watchdog" ] && wait "$watchdog"
  watchdog=
  [ -z "$job" ] || ! has_leftovers || { end_tree "$job" "$attempt" && uptime_now; }
}

# Checking all processes takes longer than a short job. So after a job of less than ten seconds, only orphans are
# checked.
has_leftovers() {
  kill -0 "-$job" 2>/dev/null && return 0
  find_orphans
  read -r _ _ _ _ last_pid <"$proc/loadavg"
  # The kernel gives pids in order: those of the job's children are between its own and the last one given, unless the
  # numbers wrapped.
  has_range=yes
  if [ $((now - begun)) -ge 200 ] || [ "$last_pid" -lt "$job" ]; then has_range=; fi
  if [ $((now - begun)) -ge 1000 ] || [ -z "$ancestors$has_range" ]; then
    [ -n "$(marked "$attempt")" ]
    return
  fi
  suspects=
  if [ -n "$ancestors" ]; then suspect_orphans; else suspect_all; fi
  # shellcheck disable=SC2086
  [ -n "$suspects" ] && [ -n "$(marked_among "SSHOAL_ATTEMPT=$attempt" $suspects)" ]
}

# An orphan becomes a child of one of the keeper's ancestors, or of process 1. $ancestors is empty if the kernel does
# not list children.
find_ancestors() {
  # Twice, because the process that started the loop may end in the meantime.
  climb || climb || ancestors=
}

climb() {
  ancestors=1 parent=$$
  [ -r "$proc/1/task/1/children" ] || return 1
  while start_of "$parent" || return 1; do
    [ "$parent" -gt 1 ] || return 0
    [ -r "$proc/$parent/task/$parent/children" ] || return 1
    ancestors="$ancestors $parent"
  done
}

find_orphans() {
  orphans=
  for ancestor in $ancestors; do
    children=
    { read -r children <"$proc/$ancestor/task/$ancestor/children"; } 2>/dev/null
    orphans="$orphans $children"
  done
}

suspect_orphans() {
  for pid in $orphans; do
    [ -n "$has_range" ] && { [ "$pid" -le "$job" ] || [ "$pid" -gt "$last_pid" ]; } || suspect
  done
}

suspect_all() {
  pid=$job
  while [ "$pid" -lt "$last_pid" ]; do
    pid=$((pid + 1))
    suspect
  done
}

# Only processes of this account that have not ended.
suspect() {
  [ ! -O "$proc/$pid/environ" ] || [ ! -e "$proc/$pid/exe" ] || suspects="$suspects $proc/$pid/environ"
}

# Separates the results of a job, the files that it changed or made, from its inputs.

# keep_results OWNER: moves work/ to the current job, unless it belongs to another job, and removes unchanged inputs
# from it. If this is killed halfway, recovery does it again before another job runs in this slot.
keep_results() {
  is_directory "$dir/work" || ! is_there "$dir/work" || rm -f "$dir/work"
  name_tree && [ "$tree" != @ ] && [ "$1" = "$key" ] || return 0
  if [ -e "$dir/keep" ]; then
    remove "$dir/making"
    [ -d "$dir/work" ] || return 0
  elif [ ! -d "$dir/work" ]; then
    is_directory "$mine/work" || { miss_work; return 0; }
    ! is_untouched || return 0
    note_copied ''
    mv "$mine/work" "$dir/work" 2>/dev/null || { chmod u+rwx "$mine/work" && mv "$mine/work" "$dir/work"; } || return
    [ "$tree_is_large" = 0 ] || [ "$tree" = - ] || [ "$copy_unchanged" = 1 ] || ! can_tell || has_clock_jumped || pass_on
  fi
  [ "$tree" = - ] || [ "$copy_unchanged" = 1 ] || drop_inputs
  return 0
}

# The job has removed its directory, moved it, or replaced it.
miss_work() {
  # A job that was killed or stopped before its start has no directory.
  [ "$copied" = "$boot_id whole $tree" ] || return 0
  note_copied ''
  rm -f "$mine/work"
  echo "sshoal: the job removed or replaced its working directory: what was in it is no result" >&2
}

is_untouched() {
  if [ "$tree" = - ]; then
    is_open "$mine/work" || return 1
    for entry in "$mine/work/"* "$mine/work/".[!.]* "$mine/work/"..?*; do
      ! is_there "$entry" || return 1
    done
  else
    [ "$copy_unchanged" = 0 ] && ! has_clock_jumped && is_as_copied
  fi
}

is_as_copied() {
  can_tell && finds_no_change
}

# A find that was killed also prints nothing, so its status counts too.
finds_no_change() {
  found=$(find "$mine/work" -cnewer "$mine/fresh" -print -quit 2>&1) && [ -z "$found" ]
}

# Not every find has -cnewer; without it, contents are compared.
can_tell() {
  if [ -z "$find_tells" ]; then
    find_tells=no
    ! find . -prune -cnewer . -quit >/dev/null 2>&1 || find_tells=yes
  fi
  [ "$find_tells" = yes ]
}

# If the clock was set back to before "fresh", changed files would look old.
has_clock_jumped() {
  true >"$mine/now"
  [ "$mine/fresh" -nt "$mine/now" ]
}

# In a large tree, each top entry without changes is passed on to the next job by a rename.
pass_on() {
  remove "$mine/changed"
  mkdir "$mine/changed" "$mine/work" || return
  (cd "$dir/work" && find . ! -name . -cnewer "$spool/$mine/fresh" -exec sh -c 'changed=$1; shift
    for path; do
      path=${path#./}
      true >"$changed/${path%%/*}" || exit 1
    done' sh "$spool/$mine/changed" {} +) || return
  set --
  for entry in "$tree"/* "$tree"/.[!.]* "$tree"/..?*; do
    name=${entry##*/}
    is_there "$entry" && is_there "$dir/work/$name" && [ ! -e "$mine/changed/$name" ] && set -- "$@" "$dir/work/$name"
  done
  [ $# = 0 ] || mv -- "$@" "$mine/work/" || return
  note_copied "$boot_id part $tree"
}

# Unchanged inputs are no results. They are recognised by their ctime, which no program can set back, or by content if
# find cannot compare ctimes. Only files that are also in the tree with the same age are removed, in case the clock was
# set back. A directory without write permission gets it first, because no file could be removed from it otherwise.
# shellcheck disable=SC2016 # the inner shell expands it
drop_inputs() {
  cd "$dir/work" || return
  if can_tell; then
    find . -type d ! -perm -700 -exec chmod u+rwx {} \; -o ! -type d ! -cnewer "$spool/$mine/fresh" -exec sh -c 'tree=$1; shift
      for file; do
        if [ -h "$file" ]; then [ -h "$tree/$file" ]
        else [ -e "$tree/$file" ] && ! [ "$file" -nt "$tree/$file" ] && ! [ "$file" -ot "$tree/$file" ]
        fi && printf "%s\0" "$file"
      done' sh "$tree" {} + | xargs -0 rm -f
  else
    find . -type d ! -perm -700 -exec chmod u+rwx {} \; -o ! -type d -exec sh -c 'tree=$1; shift
      for file; do
        if [ -h "$file" ]; then [ -h "$tree/$file" ] && [ "$(readlink "$file")" = "$(readlink "$tree/$file")" ]
        else [ ! -h "$tree/$file" ] && cmp -s "$file" "$tree/$file"; fi && rm -f "$file"
      done' sh "$tree" {} +
  fi
  [ "$tree_has_directories" = 0 ] || (cd "$tree" && find . -depth -type d ! -path . -print0) | xargs -0 rmdir 2>/dev/null
  cd "$OLDPWD" || return
}

# Appends to the slot's event log. The loop and its keeper write to it in turn.

say() {
  printf '%s\n' "$1" >>"$mine/events"
}

# A loop that was killed on a full disk may have left an incomplete line.
end_torn_line() {
  [ ! -s "$mine/events" ] || [ -z "$(tail -c 1 "$mine/events")" ] || say ''
}

# Writes the lines in $untold. The end of a successful job waits for the start of the next one, because each write costs
# the client as much as a short job. A failure is written at once: if the disk is nearly full, the next job could use
# the rest of it.
tell() {
  [ -n "$untold" ] || return 0
  until say "$untold"; do
    # A part of a line may have been written.
    until say ''; do make_room; done
  done
  untold=
}

# With the uptime in hundredths of a second and the boot id: so the client computes the start time without the machine's
# wall clock, which may be wrong.
tell_start() {
  untold="${untold:+$untold
}started $key $slot $begun ${boot_id%%-*}"
  tell
}

# Handles a full disk: a slot must still write how its job ended. So it keeps a file of 8 kB, which it removes then.

load_ballast() {
  [ -s "$mine/ballast" ] || printf '%8192s' '' >"$mine/ballast"
}

make_room() {
  throw_ballast || sleep_on
}

throw_ballast() {
  [ -e "$mine/ballast" ] && rm -f "$mine/ballast"
}

# If the batch was removed, there is nothing to report.
sleep_on() {
  [ -d "$dir" ] && is_in_place || exit 1
  sleep 1
}

# The job's own error message may not have been written.
tell_full_disk() {
  is_disk_full || return 0
  throw_ballast
  echo "sshoal: the disk is full here: $PWD" >>"$dir/err"
}

# Fewer than four digits means less than a MB.
is_disk_full() {
  free_kb=$(df -Pk . 2>/dev/null | tail -n 1 | { read -r _ _ _ free _; echo "$free"; })
  case $free_kb in '' | *[!0-9]* | ????*) return 1 ;; esac
}


main() {
  until with_lock "$lock" become_the_loop; do
    # On a full disk the loop could not write its pid. Another loop could start, and two would work in this slot.
    [ -n "$is_unwritten" ] && is_in_place || exit 0
    sleep 1
  done
  if [ -z "$is_new" ]; then
    recover
    with_lock "$lock" has_work || exit 0
  fi
  while true; do
    if [ -n "$has_room" ]; then
      have_it_kept
      said=
    else
      wait_for_room
    fi
    with_lock "$lock" has_work || exit 0
  done
}

[ -n "${plain_slots-}" ] || . ./fast.sh
read_need
[ ! -e "$mine/room" ] || . ./kinds.sh
main
