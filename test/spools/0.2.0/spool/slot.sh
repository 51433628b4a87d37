# The slot loop: sh slot.sh BATCH_DIR SLOT [revived]. Takes the next job, runs it, writes how it ended, takes the next, until
# none is left. It needs no client: all it knows is in files, and all it does is written to files.

# All variables that functions of several files share are set here. Others are used in one file only, or hold the answer of a
# function, whose comment names them.

# The slot: its number, its directory in the spool, and the directory that all spools and trees are in.
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
# The environment of all jobs, and check_cards: the cards whose free memory is looked at before each job.
. "./$mine/env"
# What a job of this slot needs: the text to claim, and its words (read_need).
need='' need_memory='' need_gpu_memory='' need_gpu='' need_machine='' need_cards=''
shell='sh'
! command -v bash >/dev/null || shell=bash
# A pid that no process has.
nobody=2147483647

# The job at hand (choose_job): its directory, its key, and the mark of its processes.
dir='' key='' attempt=''
# What the first line of its command says, and of which job that was read (name_tree).
tree='' tree_has_directories='' tree_is_large='' needs_own_shell='' named=''
# Its process, its watch, when it began (in hundredths of a second), and whether it was given back for lack of room.
job='' watchdog='' begun='' is_put_back=''
# Of the loop: whether it has nothing to recover, could not write who it is, and holds a claim.
is_new='' is_unwritten='' has_room=''
# Why there is no room, and the reason that was reported last.
reason='' said=''
# Of the keeper: its pid, its line in the file "keeper", its ancestors, and when it last looked at memory and cards.
keeper='' keeper_line='' ancestors='' looked_at='' checked_at=''
# What work/ is a copy of, as in the file "copied", and whether find can look for changes ("yes" or "no").
copied='' find_tells=''
# Lines for the event log that are not written yet.
untold=''

# Jobs ignore these signals too, like background processes of any script. begin.sh relies on it, because bash treats SIGINT
# differently.
trap '' INT QUIT

# The life of the loop: it becomes the one loop of its slot, has jobs kept while there is room, and ends when none waits.

# Only one loop runs per slot; a second one exits. If the loop before came to its end, there is nothing to recover, and this one
# looks for work at once. Not if it was started because a job has no end: the job's taker may have left no other trace.
become_the_loop() {
  is_dead "$mine/loop" || return 1
  is_new=yes
  [ -z "$is_revived" ] || is_new=
  for trace in loop job keeper; do
    [ ! -s "$mine/$trace" ] || is_new=
  done
  # The job of a loop that was killed still uses the room that the loop claimed.
  ! is_dead "$mine/keeper" || ! is_dead "$mine/job" || true >"$mine/claim"
  start_of $$
  is_unwritten=
  echo "$$ $started $here" >"$mine/loop" || { is_unwritten=yes && return 1; }
  [ -n "$is_new" ] || return 0
  [ ! -e "$mine/copied" ] || note_copied ''
  has_work
}

# The loop decides to end under the same lock as to begin: a job that arrives meanwhile finds a loop that goes on, or none.
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

# is_waiting DIR: this slot may take the job.
is_waiting() {
  [ -e "$1/command" ] && [ ! -e drain ] && [ ! -e "$1/claim" ] && [ ! -e "$1/own" ]
}

# choose_job DIR: what follows is about this job.
choose_job() {
  dir=$1 key=${1#jobs/}
  attempt=$batch/$key.
}

# A spool that is removed is moved away first, with this process in it.
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

# Ends the jobs that an earlier loop or a killed keeper of this slot left.

# The job may still run, or was lost with the machine.
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
  choose_job "jobs/$last"
  [ ! -s "$dir/exit" ] || tell_end
  # It is unknown what has changed in work/ meanwhile: the next job gets a new copy.
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

# Looks twice: the keeper could be writing its file at this moment.
is_kept() {
  [ -s "$mine/keeper" ] && { ! is_dead "$mine/keeper" || { sleep 0.1 && ! is_dead "$mine/keeper"; }; }
}

# A claim without a name was being made when its taker was killed. No process runs the job: it is lost.
take_over() {
  [ -e "$dir/claim" ] && [ ! -s "$dir/claim" ] && echo "slot $slot" >"$dir/claim"
}

# Fails if the taker was only slow and has written its name since.
is_taken_over() {
  read -r claimed <"$dir/claim" && [ "$claimed" = "slot $slot" ]
}

# see_to_end CLAIM: waits until the job at hand is gone, then writes how it ended: by its last word, or as lost. CLAIM says whether
# its taker had written its name.
see_to_end() {
  while [ ! -s "$dir/exit" ] && is_under_way "$1"; do sleep 1; done
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
  wind_up "${code:-lost}" 0 "$owner"
  tell
}

# Sets $code. A word without its newline was torn. The four codes are those of the signals that a sweep over all processes
# uses: it may have hit the job's last command before the keeper.
read_last_word() {
  code='' whose=''
  { read -r whose code <"$mine/code"; } 2>/dev/null && [ "$whose" = "$attempt" ] || code=
  case $code in 129 | 130 | 137 | 143) code= ;; esac
}

is_under_way() {
  # A keeper that is alive has the job that its slot has claimed, perhaps only since this moment.
  ! is_dead "$mine/keeper" && { [ "$live_job" = "$key" ] || [ "$1" = named ]; } && return 0
  is_running "$key"
  [ $? = 1 ] || return 0
  # It may have begun a moment ago, and not be written down yet.
  [ "$live_job" != "$key" ] && [ -n "$(marked "$attempt")" ]
}

# The keeper may have been killed between writing "exit" and the event.
tell_end() {
  read -r code <"$dir/exit"
  grep -qs "^ended $key " "$mine/events" || say "ended $key $slot $code 0"
}

# Reads the claim of a slot, for slots and for the probe. docs/slot.md describes its format.

# read_claim FILE: sets $memory, $cpus, $gpu_memory, $gpu_use, $gpu, $machine and $cards. Fails for what is no whole claim.
read_claim() {
  { read -r memory cpus gpu_memory gpu_use gpu machine cards _ <"$1"; } 2>/dev/null || return 1
  is_amount "$memory" && is_amount "$gpu_memory" && is_fraction "$cpus" && is_fraction "$gpu_use" || return 1
  case $gpu$machine in [01][01]) ;; *) return 1 ;; esac
  cards=${cards:--}
}

# At most nine digits: shells calculate with it. A zero in front would make it octal, and bash would run what an index says.
is_amount() {
  case $1 in '' | *[!0-9]* | 0?* | ??????????*) return 1 ;; esac
}

is_fraction() {
  case $1 in '' | *[!0-9.]* | .* | *. | *.*.* | ????????????????*) return 1 ;; esac
}

# Claims room on the machine for the slot, beside the claims of all batches of this user.

# What the jobs of this slot need: as it is read from a claim, and all of its lines, which become the claim.
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

# Other batches see the claim long before a job uses its memory. It is checked and made under one lock.
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

# A part of one would count as ours, and as none to other slots.
write_claim() {
  printf '%s' "$need" >"$mine/claim" || { true >"$mine/claim" && return 1; }
}

holds_claim() {
  # A link may lead to where another account has made a directory since.
  [ -s "$1/claim" ] && [ -O "$1" ] && ! [ "$1" -ef "$mine" ] && is_live "$1/loop" || return 1
  read_claim "$1/claim" || return 1
  { read -r session _ session_boot _ <"$1/job"; } 2>/dev/null && [ "${session_boot%@"$host"}" = "$boot_id" ] && sessions="$sessions $session "
  return 0
}

# Sets $reason when the claim just read leaves no room for ours.
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

has_memory() {
  while read -r name available _; do
    [ "$name" = MemAvailable: ] || continue
    reason="memory: $1 MB wanted, $((available / 1024)) MB free"
    [ "$((available / 1024))" -ge "$1" ]
    return
  done <"$proc/meminfo"
}

# Prints the memory that the jobs of those claims already use, so that it does not count as claimed and as used.
resident_mb() {
  pages=0
  set -f
  for pid in $(cd "$proc" && set +f && echo [0-9]*); do
    { read -r stat_line <"$proc/$pid/stat"; } 2>/dev/null || continue
    # shellcheck disable=SC2086
    set -- ${stat_line##*) }
    # A job leads its session, or its group in that of its slot.
    case $sessions in *" $3 "* | *" $4 "*) pages=$((pages + ${22})) ;; esac
  done
  echo $((pages * $(getconf PAGESIZE 2>/dev/null || echo 4096) / 1048576))
}

# Looks again when a job starts; at memory at most every second, at the cards at most every ten, because that can take a second.
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
    free=$(nvidia-smi -i "$card" --query-gpu=memory.free --format=csv,noheader,nounits 2>&1)
    reason="GPU $card: its free memory cannot be read"
    case $free in '' | *[!0-9]*) return 1 ;; esac
    reason="GPU $card: $need_gpu_memory MB wanted, $free MB free"
    [ "$free" -ge "$need_gpu_memory" ] || return 1
  done
  checked_at=$now
}

# Waits for room, and reports for what.

wait_for_room() {
  tell
  [ "$reason" = "$said" ] || say "waiting $slot $reason"
  said=$reason
  doze
}

# Five seconds, or until no job waits: after the batch is removed, the loop ends within a second.
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
  # Before it takes a job: from here on another loop waits for this keeper.
  until echo "$keeper_line" >"$mine/keeper"; do make_room; done
  find_ancestors
  # Made here, because the job would make it under another umask.
  true >>"$mine/job"
  copied=
  { read -r copied <"$mine/copied"; } 2>/dev/null
  work_through
  tell
  # However the last job ended: the keeper was not killed.
  exit 0
}

# Keys sort in the order in which jobs start. Jobs that arrive meanwhile are found on the next pass.
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

# A keeper without a loop takes no job: if it were killed too, no process would report the job.
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
    # If this took too long, another loop has taken the job over and called it lost.
    [ ! -e "$dir/exit" ]
    return
  fi
  # On a full disk a file can be made, but not written: the claim is withdrawn.
  rm -f "$dir/claim"
  wait_for_disk
  return 1
}

run_job() {
  job='' watchdog='' is_put_back=''
  # After a power failure, a command that was handed over a moment before may be empty.
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

# wind_up CODE MILLISECONDS OWNER: keeps the results of the job at hand and writes how it ended. OWNER is the key of the job that
# work/ belongs to.
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
  [ "$1" = 0 ] || tell_full_disk
  # Valid only with its newline, so a torn write is no exit code.
  until echo "$1" >"$dir/exit"; do make_room; done
  # When a job cannot begin, the end of the job before it is not reported yet.
  untold="${untold:+$untold
}ended $key $slot $1 $2"
  [ "$1" = 0 ] || tell
}

# Makes the directory that a job runs in: a copy of its tree.

# Sets $tree from the first line of the command; "-": the job begins in an empty directory; "@": it runs in place, in the user's
# own directory, which is never changed here.
name_tree() {
  [ "$named" != "$dir" ] || return 0
  named=''
  tree='' tree_has_directories='' tree_is_large='' needs_own_shell=''
  { read -r _ tree tree_has_directories tree_is_large needs_own_shell <"$dir/command"; } 2>/dev/null
  case $tree in - | @) ;; *) tree=${tree:+$root/trees/$tree} ;; esac
  [ -n "$tree" ] && named=$dir
}

# Jobs that leave work/ unchanged pass it on to the next one. "copied" says which tree work/ is a copy of, and whether it is whole.
has_work_copy() {
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

# For is_as_copied, which compares with what is here now.
remember_copy() {
  wait_for_clock
}

# File times move in steps of up to 10 ms, and changes by the job must be later than "fresh". Gives up after five looks, because
# not every [ compares more than whole seconds.
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

# A directory that cannot be removed is put aside, or the tree would be copied into it.
clear_work() {
  remove "$mine/work" || mv "$mine/work" "$mine/aside.$key"
}

remove() {
  ! is_there "$1" || rm -rf "$1" 2>/dev/null || { is_directory "$1" && chmod -R u+rwx "$1" && rm -rf "$1"; }
}

# copy_tree MADE: MADE is "" or what is in work/ already, as in "copied".
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

# Shares blocks with the tree where the file system can. A cp that does not know the option has copied nothing.
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

# Before any of it has run: another slot or machine may have more room. The claim is removed last.
put_back() {
  rm -f "$mine/ballast" "$dir/err" "$dir/claim" && is_put_back=yes
}

# Runs the command of one job.

begin() {
  [ "$tree" != @ ] || mkdir -p "$dir/work"
  tell_start
  start_watchdog
}

# Fails with the exit code of the job, and sets $job to its pid.
run_command() {
  run_in_own_shell
}

# Runs in the foreground, where dash needs no fork of itself; begin.sh writes down the pid. All three streams are redirected:
# a process that reads one of them would otherwise wait for the job's children too.
run_in_own_shell() {
  work=$spool/$mine/work kept=$spool/$mine/work
  [ "$tree" != @ ] || work=$in_place kept=$spool/$dir/work
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

# Sets $job to the pid that the job's shell wrote down. It may have been unable to.
learn_job() {
  job='' whose=''
  { read -r job _ _ whose <"$mine/job"; } 2>/dev/null
  [ "$whose" = "$key" ] || job=$nobody
}

# For processes that may outlive the keeper: pipes of fast.sh, whose readers wait until no process holds them.
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
  # Not by redirections of the call: dash would keep copies open.
  close_pipes
  # Set before the sleeper starts, or a quick job would leave it behind; until then $! is an earlier process. KILL, because a
  # child that has not reached its exec yet can lose any other signal.
  earlier=$!
  trap '[ "$!" = "$earlier" ] || kill -KILL "$!"; exit' TERM
  SSHOAL_WATCH=$attempt sleep "$1" &
  wait $! && true >"$dir/timed-out" || return
  is_running "$key" || live_pid=$nobody
  end_tree "$live_pid" "$attempt"
}

# Ends the watch that a killed keeper left: without its sleeper, the watch ends by itself.
end_watch() {
  # shellcheck disable=SC2046
  kill $(marked "$attempt" SSHOAL_WATCH) 2>/dev/null
}

# Ends the processes that a job left behind. Shared here: $orphans and $suspects, lists of pids and of files in /proc; $has_range,
# whether the pids of the job's children lie between $job and $last_pid.

# The next job must find its card free.
end_leftovers() {
  [ -n "$watchdog" ] && [ ! -e "$dir/timed-out" ] && kill "$watchdog" 2>/dev/null
  [ -n "$watchdog" ] && wait "$watchdog"
  watchdog=
  [ -z "$job" ] || ! has_leftovers || { end_tree "$job" "$attempt" && uptime_now; }
}

# To look at all processes takes longer than a short job. So after a job of less than ten seconds, only orphans are looked at.
has_leftovers() {
  kill -0 "-$job" 2>/dev/null && return 0
  find_orphans
  read -r _ _ _ _ last_pid <"$proc/loadavg"
  # The kernel gives pids in turn: those of the job's children lie between its own and the last one given, unless they wrapped.
  has_range=yes
  if [ $((now - begun)) -ge 200 ] || [ "$last_pid" -lt "$job" ]; then has_range=; fi
  if [ $((now - begun)) -ge 1000 ] || [ -z "$ancestors$has_range" ]; then
    [ -n "$(marked "$attempt")" ]
    return
  fi
  suspects=
  if [ -n "$ancestors" ]; then suspect_orphans; else suspect_all; fi
  # shellcheck disable=SC2086
  [ -n "$suspects" ] && grep -qszF -- "SSHOAL_ATTEMPT=$attempt" $suspects
}

# An orphan becomes a child of one of the keeper's ancestors, or of process 1. $ancestors is empty where the kernel does not list
# children.
find_ancestors() {
  # Twice, because the process that started the loop may end meanwhile.
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

# Puts apart what a job changed or made: its results.

# keep_results OWNER: moves work/ to the job at hand, unless it belongs to another job, and removes unchanged inputs from it. If this
# is killed halfway, recovery does it again before another job runs here.
keep_results() {
  is_directory "$dir/work" || ! is_there "$dir/work" || rm -f "$dir/work"
  name_tree && [ "$tree" != @ ] && [ "$1" = "$key" ] || return 0
  if [ ! -d "$dir/work" ]; then
    is_directory "$mine/work" || { miss_work; return 0; }
    ! is_untouched || return 0
    note_copied ''
    mv "$mine/work" "$dir/work" 2>/dev/null || { chmod u+rwx "$mine/work" && mv "$mine/work" "$dir/work"; } || return
    [ "$tree_is_large" = 0 ] || [ "$tree" = - ] || [ "$copy_unchanged" = 1 ] || ! can_tell || has_clock_jumped || pass_on
  fi
  [ "$tree" = - ] || [ "$copy_unchanged" = 1 ] || drop_inputs
  return 0
}

# The job has removed its directory, moved it, or put something else in its place.
miss_work() {
  # None was made for a job that was killed before, or stopped.
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

# A find that was killed prints nothing either, so its status counts too.
finds_no_change() {
  found=$(find "$mine/work" -cnewer "$mine/fresh" -print -quit 2>&1) && [ -z "$found" ]
}

# Not every find knows -cnewer; without it, contents are compared.
can_tell() {
  if [ -z "$find_tells" ]; then
    find_tells=no
    ! find . -prune -cnewer . -quit >/dev/null 2>&1 || find_tells=yes
  fi
  [ "$find_tells" = yes ]
}

# If the clock was set back behind "fresh", changed files would look old.
has_clock_jumped() {
  true >"$mine/now"
  [ "$mine/fresh" -nt "$mine/now" ]
}

# Of a large tree, each entry at the top that has nothing new in it goes on to the next job, by a rename.
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

# Unchanged inputs are no results. They are known by their ctime, which no program can set back, or by content where find cannot
# compare ctimes. Only files that are also in the tree, and as old as there, are removed, in case the clock was set back.
# A directory without write permission gets it first: no file could be removed from it otherwise.
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

# A loop that was killed on a full disk may have left a part of a line.
end_torn_line() {
  [ ! -s "$mine/events" ] || [ -z "$(tail -c 1 "$mine/events")" ] || say ''
}

# Writes the lines in $untold. The end of a job that succeeded waits for the start of the next one: to the client, each write costs as
# much as a short job. A failure is written at once: if the disk is full, the next job could take the last of it.
tell() {
  [ -n "$untold" ] || return 0
  until say "$untold"; do
    # A part of a line may have been written.
    until say ''; do make_room; done
  done
  untold=
}

tell_start() {
  untold="${untold:+$untold
}started $key $slot"
  tell
}

# What a slot does on a full disk: it must still write how its job ended. So it keeps 8 kB to remove then.

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

# The job's own message about it may not have been written.
tell_full_disk() {
  is_disk_full || return 0
  throw_ballast
  echo "sshoal: the disk is full here: $PWD" >>"$dir/err"
}

# Less than four digits are less than a MB.
is_disk_full() {
  free_kb=$(df -Pk . 2>/dev/null | tail -n 1 | { read -r _ _ _ free _; echo "$free"; })
  case $free_kb in '' | *[!0-9]* | ????*) return 1 ;; esac
}


main() {
  until with_lock "$lock" become_the_loop; do
    # On a full disk the loop could not write who it is: another one could start, and two would work here.
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
