# The slot loop: sh slot.sh BATCH_DIR SLOT [revived]. Takes the next job, runs it, writes how it ended, takes the next, until
# none is left. It needs no client: all it knows is in files, and all it does is written to files.

slot=$2 is_revived=${3-}
cd "$1" || exit 1
root=${1%/batches/*}
. ./own.sh
. ./lib.sh
. ./settings
mine=slots/$slot
. "./$mine/env"
read -r need <"$mine/need"
read -r need_memory _ need_gpu_memory _ need_gpu need_machine need_cards <"$mine/need"
spool=$PWD
# No process has that number.
nobody=2147483647
shell='sh'
! command -v bash >/dev/null || shell=bash
looked_at='' checked_at='' said='' killed='' untold='' has_fifos='' forker='' named='' as_copied='' can_ask='' find_tells='' has_room=''

# To their jobs too, as in the background of any script. begin.sh relies on it: bash has its own ways with SIGINT.
trap '' INT QUIT

main() {
  until with_lock "$lock" become_the_loop; do
    # On a full disk it could not be written who we are: another loop could come, and two would work here.
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

# One short line in one write: what several slots append never mixes.
say() {
  printf '%s\n' "$1" >>events
}

# One loop a slot: whoever comes second leaves. The first one ever, and one after a loop that came to its end, has nothing
# to recover, and looks for work at once. Unless it was started since a job has no end: its taker may have left no other trace.
become_the_loop() {
  is_live "$mine/loop" && return 1
  is_new=yes
  [ -z "$is_revived" ] || is_new=
  for trace in loop job keeper; do
    [ ! -s "$mine/$trace" ] || is_new=
  done
  # The job of a loop that was killed still uses what that one claimed.
  is_live "$mine/keeper" || is_live "$mine/job" || true >"$mine/claim"
  start_of $$
  is_unwritten=
  echo "$$ $started $boot_id" >"$mine/loop" || { is_unwritten=yes && return 1; }
  [ -n "$is_new" ] || return 0
  [ ! -e "$mine/copied" ] || note_copied ''
  has_work
}

# What an earlier loop of this slot or a keeper that was killed left: the job may still run, or went down with the machine.
recover() {
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
      '') sleep 1 && with_lock "$lock" take_over && sleep 1 && is_taken_over && see_to_end ;;
    esac
  done
}

# Looked at twice: a keeper could be writing to its file at this moment.
is_kept() {
  [ -s "$mine/keeper" ] && { is_live "$mine/keeper" || { sleep 0.1 && is_live "$mine/keeper"; }; }
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
  is_live "$mine/keeper" && { [ "$live_job" = "$key" ] || [ "$who" = slot ]; } && return 0
  is_running "$key" && return 0
  # Begun a moment ago, and not written down yet.
  [ "$live_job" != "$key" ] && [ -n "$(marked "$attempt")" ]
}

# Its keeper may have been killed between writing how the job ended and saying so.
tell_end() {
  read -r code <"$dir/exit"
  grep -q "^ended ${dir#jobs/} " events || say "ended ${dir#jobs/} $slot $code 0"
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

# What has ended well is told with the next start, unless that takes longer: to whoever follows, each line costs as much as
# a short job. What went wrong may have to do with a disk that is full: told before the next job takes the last of it.
tell() {
  [ -n "$untold" ] || return 0
  until say "$untold"; do
    # A part of it may be there.
    until say ''; do make_room; done
  done
  untold=
}

tell_start() {
  untold="${untold:+$untold
}started $key $slot"
  tell
}

# A job that fills the disk must not keep us from writing that it ended.
load_ballast() {
  [ -s "$mine/ballast" ] || printf '%8192s' '' >"$mine/ballast"
}

make_room() {
  throw_ballast || sleep_on
}

throw_ballast() {
  [ -e "$mine/ballast" ] && rm -f "$mine/ballast"
}

# Unless somebody has removed the batch: then there is nobody to tell.
sleep_on() {
  [ -d "$dir" ] && is_in_place || exit 1
  sleep 1
}

# What the job had to say about it may not have been written.
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

# What more there is to it when a batch has jobs of several kinds, is in kinds.sh.
may_claim() {
  true
}

# The claim is what other batches see long before a job has touched its memory; checked and made under one lock.
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
    echo "$need" >"$mine/claim"
  else
    return 1
  fi
}

holds_claim() {
  # A link may lead to where another account has made a directory since.
  [ -s "$1/claim" ] && [ -O "$1" ] && ! [ "$1" -ef "$mine" ] && is_live "$1/loop" || return 1
  read -r memory _ _ _ gpu machine cards <"$1/claim"
  # bash would run what an index in an expression says.
  case $memory in '' | *[!0-9]*) return 1 ;; esac
  { read -r session _ session_boot _ <"$1/job"; } 2>/dev/null && [ "$session_boot" = "$boot_id" ] && sessions="$sessions $session "
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

# What the jobs of those claims already hold, so that it is not counted as claimed and as used.
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

wait_for_room() {
  tell
  [ "$reason" = "$said" ] || say "waiting $slot $reason"
  said=$reason
  doze
}

# Five seconds, or until there is nothing to wait for: a client that removes the batch finds the loop gone soon.
doze() {
  for second in 1 2 3 4 5; do
    sleep 1
    is_any_waiting || return 0
  done
}

is_any_waiting() {
  is_in_place || return 1
  ! is_waiting || return 0
  for dir in jobs/*; do
    ! is_waiting || return 0
  done
  return 1
}

# A spool that is removed is moved away first, and we with it.
is_in_place() {
  [ . -ef "$spool" ]
}

# The keeper: a subshell that runs the jobs, and outlives the loop with the one it has if somebody kills that, since it
# alone learns the exit code.
have_it_kept() {
  # Ours too, so that neither end waits for the other to open, and one that is gone does not end who asks it.
  if make_fifos && command exec 5<>"$mine/run" 7<>"$mine/ask"; then
    fork_jobs <"$mine/run" 5>&- 7>&- | keep_asking &
    exec 5>&- 7>&-
  else
    keep </dev/null 5>/dev/null 6</dev/null 7>/dev/null &
  fi
  wait $! || killed=yes
  wait
  [ -z "$killed" ] || recover
  killed=
}

keep_asking() {
  exec 6<&0
  tell_changes <"$mine/ask" 2>&1 5>&- 6<&- 7>&- | keep &
  exec 5>&- 6<&- 7>&-
  wait $!
  code=$?
  wait
  exit "$code"
}

# Some a loop: of an earlier one's, somebody might still be reading.
make_fifos() {
  [ -z "$has_fifos" ] || return 0
  { [ ! -e "$mine/ask" ] || rm -f "$mine/run" "$mine/ask"; } &&
    mkfifo "$mine/run" "$mine/ask" 2>/dev/null && has_fifos=yes
}

# One bash for all jobs that need none of their own.
fork_jobs() {
  [ "$shell" = bash ] && exec bash -p fork.bash "$spool" "$slot"
}

# One du for all jobs: answers each path with its size, the newest ctime of all that is there, and the path.
tell_changes() {
  exec du -ls --time=ctime --time-style=+%s.%N --files0-from=-
}

keep() {
  exec 8<&0 </dev/null
  can_ask=yes as_copied='' forker=''
  read -r keeper _ <"$proc/self/stat"
  start_of "$keeper"
  keeper_line="$keeper $started $boot_id"
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

wait_for_disk() {
  reason="the disk is full: $PWD"
  wait_for_room
}

# Asked again at the moment a job starts; but memory at most every second, and the cards every ten, since a call can take
# a second.
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
  { has_work_copy || make_work 2>>"$dir/err"; } && [ ! -e "$dir/stopped" ] && run_command
  code=$?
  if [ -n "$is_put_back" ]; then
    wait_for_disk
    return
  fi
  uptime_now
  end_leftovers
  wind_up "$code" $((now - begun))0
}

# The first line of a command names the tree its job begins with; "-": it begins in an empty directory; "@": it runs in
# place, where the user is, and what it leaves there is nobody's but theirs.
name_tree() {
  [ "$named" != "$dir" ] || return 0
  named=''
  tree='' tree_has_directories='' tree_is_large='' needs_own_shell=''
  { read -r _ tree tree_has_directories tree_is_large needs_own_shell <"$dir/command"; } 2>/dev/null
  case $tree in - | @) ;; *) tree=${tree:+$root/trees/$tree} ;; esac
  [ -n "$tree" ] && named=$dir
}

# The slot's jobs follow each other in one directory, as long as they leave it as it was: a copy is made once, not for
# each. "copied" says of which tree it is, and whether that is all there; "fresh" is older than what any job changes.
has_work_copy() {
  [ "$tree" = @ ] || { [ "$copied" = "$boot_id whole $tree" ] && is_directory "$mine/work" && is_open "$mine/work"; }
}

# A job may have put a link to anywhere in place of a directory of ours, which must never be followed.
is_directory() {
  [ -d "$1" ] && [ ! -h "$1" ]
}

is_open() {
  [ -r "$1" ] && [ -w "$1" ] && [ -x "$1" ]
}

make_work() {
  tell
  made=$copied as_copied=''
  note_copied ''
  [ "$made" = "$boot_id part $tree" ] && is_directory "$mine/work" || made=
  if { [ -z "$made" ] && ! clear_work; } || ! copy_tree; then
    clear_work
    is_disk_full && put_back && return 1
    echo "sshoal: the working directory could not be copied for this job" >&2
    return 125
  fi
  true >"$mine/fresh"
  note_copied "$boot_id whole $tree"
  [ "$tree" != - ] || return 0
  wait_for_clock
  ! ask "$mine/work" || as_copied=$answer
}

# File times move in steps of up to 10 ms: what the job changes must be later than "fresh". Not every test compares
# more than whole seconds.
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

# ask PATH: sets $answer to what changes with anything below it; fails when there is nobody who could say.
ask() {
  [ -n "$can_ask" ] || return 1
  answer=
  { printf '%s\0' "$1" >&7 && read -r answer <&8; } 2>/dev/null
  case $answer in
    [0-9]*"	"[0-9]*.[0-9]*"	$1") ;;
    # Whatever else it says: from now on answers might be of other questions.
    *) can_ask='' ;;
  esac
  [ -n "$can_ask" ]
}

# What cannot be removed is put aside, or the tree would be copied into it.
clear_work() {
  remove "$mine/work" || mv "$mine/work" "$mine/aside.$key"
}

remove() {
  ! is_there "$1" || rm -rf "$1" 2>/dev/null || { is_directory "$1" && chmod -R u+rwx "$1" && rm -rf "$1"; }
}

copy_tree() {
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

# Where the filesystem can, a copy shares its blocks until one of them is written to. A cp that does not know the word for
# it has done nothing.
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

# Nothing of it has run: another slot or machine may have more room. The claim goes last.
put_back() {
  rm -f "$mine/ballast" "$dir/err" "$dir/claim" && is_put_back=yes
}

run_command() {
  work=$spool/$mine/work kept=$spool/$mine/work
  [ "$tree" != @ ] || { work=$in_place kept=$spool/$dir/work && mkdir -p "$kept"; }
  tell_start
  start_watchdog
  if [ "$needs_own_shell" = 0 ] && can_fork; then have_it_forked; else run_in_own_shell; fi
}

# There is none where bash is missing, or would find something in its environment that this shell does not know.
can_fork() {
  [ -n "$forker" ] || { read -r forker forker_pid <&6 || forker=none; } 2>/dev/null
  [ "$forker" = ready ] && kill -0 "$forker_pid" 2>/dev/null
}

have_it_forked() {
  told='' place=-
  [ "$tree" != @ ] || place=@
  echo "$key $place $keeper" >&5
  read -r told code job <&6
  # Somebody killed the one who knows how the job ended: it is seen to as if it had no keeper.
  [ "$told" = "$key" ] || exit 1
  return "$code"
}

# In the foreground, where dash starts it without a copy of itself; begin.sh writes down who it is. All three
# streams are redirected, or whoever holds the other end would wait for the job's children too.
run_in_own_shell() {
  as_at_login
  cd "$work" 2>>"$spool/$dir/err" &&
    SSHOAL_ATTEMPT=$attempt SSHOAL_SLOT_DIR=$spool/$mine SSHOAL_BOOT=$boot_id SSHOAL_KEEPER=$keeper SSHOAL_RESULTS=$kept \
      setsid "$shell" "$spool/$dir/command" </dev/null >>"$spool/$dir/out" 2>>"$spool/$dir/err" 5>&- 6<&- 7>&- 8<&-
  code=$?
  as_in_spool
  cd "$spool" || exit 1
  learn_job
  return "$code"
}

# The spool is private and its scripts speak C; what a job makes and says is as the user has it elsewhere.
as_at_login() {
  umask "${login_umask:-077}"
  unset LC_ALL
  [ -z "${login_locale-}" ] || export LC_ALL="$login_locale"
}

as_in_spool() {
  umask 077
  export LC_ALL=C
}

# Who the job was, by its own word. One that had none to say has no number that any process has.
learn_job() {
  job='' told=''
  { read -r job _ _ told <"$mine/job"; } 2>/dev/null
  [ "$told" = "$key" ] || job=$nobody
}

# Some jobs have a limit of their own.
start_watchdog() {
  job_limit=$limit
  [ ! -e "$dir/limit" ] || read -r job_limit <"$dir/limit"
  [ "$job_limit" -gt 0 ] || return 0
  watch &
  watchdog=$!
}

watch() {
  # By exec: what is redirected for a function, dash puts aside and holds open. The loop waits until no process has these.
  exec 5>&- 6<&- 7>&- 8<&-
  # Set before there is a sleeper, or a quick job would leave it behind; until then $! is an earlier one's. And KILL, since
  # a child that has not got to its exec yet can lose any other signal.
  earlier=$!
  trap '[ "$!" = "$earlier" ] || kill -KILL "$!"; exit' TERM
  SSHOAL_WATCH=$attempt sleep "$job_limit" &
  wait $! && true >"$dir/timed-out" || return
  is_running "$key" || live_pid=$nobody
  end_tree "$live_pid" "$attempt"
}

# For a keeper that was killed, and could not: the process that wakes the sleeper ends the watch.
end_watch() {
  # By exec: what is redirected for a function, dash puts aside and holds open. The loop waits until no process has these.
  exec 5>&- 6<&- 7>&- 8<&-
  # shellcheck disable=SC2046
  kill $(marked "$attempt" SSHOAL_WATCH) 2>/dev/null
}

# A slot's next job must find its card free: children that the job left behind end with it.
end_leftovers() {
  [ -n "$watchdog" ] && [ ! -e "$dir/timed-out" ] && kill "$watchdog" 2>/dev/null
  [ -n "$watchdog" ] && wait "$watchdog"
  watchdog=
  [ -z "$job" ] || ! has_leftovers || { end_tree "$job" "$attempt" && uptime_now; }
}

# To ask all processes takes longer than many a job: what one of less than ten seconds left is looked for among orphans.
has_leftovers() {
  kill -0 "-$job" 2>/dev/null && return 0
  find_orphans
  read -r _ _ _ _ last_pid <"$proc/loadavg"
  # Pids are given in turn: what the job started has one between its own and the last one given, unless they came round.
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

# Who has lost its parent becomes a child of one of our ancestors, or of the first process. None are known where it cannot
# be told whose children there are.
find_ancestors() {
  # Once more, since whoever started the loop is about to be gone.
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

# Of this user, and not about to be gone.
suspect() {
  [ ! -O "$proc/$pid/environ" ] || [ ! -e "$proc/$pid/exe" ] || suspects="$suspects $proc/$pid/environ"
}

# What the job changed or made is its result. Of what it left as it was, the next job's copy is made. Whoever does this may
# be killed in the midst of it: then it is done again, before any other job gets a copy here.
keep_results() {
  is_directory "$dir/work" || ! is_there "$dir/work" || rm -f "$dir/work"
  name_tree && [ "$tree" != @ ] && [ "$owner" = "${dir#jobs/}" ] || return 0
  fresh=$PWD/$mine/fresh
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
  if [ -n "$as_copied" ] && ask "$mine/work"; then
    [ "$answer" = "$as_copied" ]
  else
    # Of a find that was killed, silence says nothing.
    can_tell && found=$(find "$mine/work" -cnewer "$mine/fresh" -print -quit 2>&1) && [ -z "$found" ]
  fi
}

# Not every find can tell what changed since; without, contents are compared.
can_tell() {
  if [ -z "$find_tells" ]; then
    find_tells=no
    ! find . -prune -cnewer . -quit >/dev/null 2>&1 || find_tells=yes
  fi
  [ "$find_tells" = yes ]
}

# Set back behind "fresh", the clock would make what has changed look old.
has_clock_jumped() {
  true >"$mine/now"
  [ "$mine/fresh" -nt "$mine/now" ]
}

# Of a large tree, each entry at the top that has nothing new in it goes on to the next job, by a rename.
pass_on() {
  remove "$mine/changed"
  mkdir "$mine/changed" "$mine/work" || return
  (cd "$dir/work" && find . ! -name . -cnewer "$fresh" -exec sh -c 'changed=$1; shift
    for path; do
      path=${path#./}
      true >"$changed/${path%%/*}" || exit 1
    done' sh "${fresh%/*}/changed" {} +) || return
  set --
  for entry in "$tree"/* "$tree"/.[!.]* "$tree"/..?*; do
    name=${entry##*/}
    is_there "$entry" && is_there "$dir/work/$name" && [ ! -e "$mine/changed/$name" ] && set -- "$@" "$dir/work/$name"
  done
  [ $# = 0 ] || mv -- "$@" "$mine/work/" || return
  note_copied "$boot_id part $tree"
}

# Unchanged inputs are no results. Told by ctime, which no program can set back, or by content where find cannot.
# A clock that is set back can: so only what is also in the tree, and as old as there, is taken for unchanged.
# A directory that the job closed is opened first: nothing can be removed from it.
# shellcheck disable=SC2016 # the inner shell expands it
drop_inputs() {
  cd "$dir/work" || return
  if can_tell; then
    find . -type d ! -perm -700 -exec chmod u+rwx {} \; -o ! -type d ! -cnewer "$fresh" -exec sh -c 'tree=$1; shift
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

[ ! -e "$mine/room" ] || . ./kinds.sh
main
