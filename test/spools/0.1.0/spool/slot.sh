# The slot loop: sh slot.sh BATCH_DIR SLOT. Takes the next job, runs it, writes how it ended, takes the next, until
# none is left. It needs no client: all it knows is in files, and all it does is written to files.

slot=$2
cd "$1" || exit 1
root=${1%/batches/*}
. ./lib.sh
. ./settings
mine=slots/$slot
. "./$mine/env"
read -r need_memory _ need_gpu_memory _ need_gpu need_machine need_cards <"$mine/need"
shell=$(command -v bash || command -v sh)
checked_at=

main() {
  with_lock "$lock" become_the_loop || exit 0
  recover
  while with_lock "$lock" has_work; do
    if with_lock "$lock" claim_room; then
      work_through
    else
      wait_for_room
    fi
  done
}

# One short line in one write: what several slots append never mixes.
say() {
  printf '%s\n' "$1" >>events
}

# One loop a slot: whoever comes second leaves.
become_the_loop() {
  is_live "$mine/loop" && return 1
  last=
  { read -r last _ <"$mine/running"; } 2>/dev/null
  start_of $$
  true >"$mine/claim"
  true >"$mine/running"
  echo "$$ $started $boot_id" >"$mine/loop"
}

# What an earlier loop of this slot left: its keeper may still see to it, or it went down with the machine.
recover() {
  for dir in jobs/*; do
    [ -e "$dir/claim" ] && [ ! -s "$dir/exit" ] || continue
    who='' taker=''
    read -r who taker <"$dir/claim"
    case $who in
      slot) [ "$taker" = "$slot" ] && see_to_end ;;
      '') sleep 1 && with_lock "$lock" take_over && see_to_end ;;
    esac
  done
  dir=jobs/$last
  [ ! -s "$dir/exit" ] || tell_end
}

# A claim that says nothing was being made when the machine went down. Nobody runs the job any more: it is lost.
take_over() {
  [ -e "$dir/claim" ] && [ ! -s "$dir/claim" ] && echo "slot $slot" >"$dir/claim"
}

# For a job without a keeper: once it is gone, its own last word counts; without one it is lost, and known to be.
see_to_end() {
  attempt=$batch/${dir#jobs/}.
  while [ ! -s "$dir/exit" ] && is_under_way; do sleep 1; done
  if [ -s "$dir/exit" ]; then
    tell_end
    return
  fi
  [ -z "$(marked "$attempt")" ] || end_tree "$live_pid" "$attempt"
  code=
  { read -r code <"$dir/code"; } 2>/dev/null
  wind_up "${code:-lost}" 0
}

is_under_way() {
  is_live "$dir/keeper" || is_live "$dir/pid" || { [ ! -e "$dir/pid" ] && [ -n "$(marked "$attempt")" ]; }
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
  keep_results 2>>"$dir/err"
  end_with "$code" "$2"
}

end_with() {
  rm -f "$dir/ballast"
  [ "$1" = 0 ] || tell_full_disk
  # Valid only with its newline, so a torn write is no exit code; on a full disk it is tried until there is room.
  until echo "$1" >"$dir/exit"; do sleep_on; done
  until say "ended ${dir#jobs/} $slot $1 $2"; do
    # A part of the line may be there.
    until say ''; do sleep_on; done
  done
}

# Unless somebody has removed the batch: then there is nobody to tell.
sleep_on() {
  [ -d "$dir" ] || exit 1
  sleep 5
}

# What the job had to say about it may not have been written. Less than four digits are less than a MB.
tell_full_disk() {
  free_kb=$(df -Pk . 2>/dev/null | tail -n 1 | { read -r _ _ _ free _; echo "$free"; })
  case $free_kb in '' | *[!0-9]* | ????*) return ;; esac
  echo "sshoal: the disk is full here: $PWD" >>"$dir/err"
}

# Ending is decided under the same lock as beginning: no job falls between a loop that is about to end
# and one that does not start because the first is still there.
has_work() {
  for dir in jobs/*; do
    is_waiting && return 0
  done
  rm -f "$mine/loop" "$mine/claim" "$mine/running"
  say "idle $slot"
  return 1
}

is_waiting() {
  [ -e "$dir/command" ] && [ ! -e drain ] && [ ! -e "$dir/claim" ]
}

# The claim is what other batches see long before a job has touched its memory; checked and made under one lock.
claim_room() {
  [ -s "$mine/claim" ] && return 0
  pending=0 sessions=
  for other in "$base"/batches/*/slots/*; do
    holds_claim "$other" || continue
    clashes && return 1
    pending=$((pending + memory))
  done
  if has_memory $((need_memory + pending)) || has_memory $((need_memory + pending - $(resident_mb))); then
    cat "$mine/need" >"$mine/claim"
  else
    return 1
  fi
}

holds_claim() {
  [ -s "$1/claim" ] && ! [ "$1" -ef "$mine" ] && is_live "$1/loop" || return 1
  read -r memory _ _ _ gpu machine cards <"$1/claim"
  { read -r _ running_pid _ <"$1/running"; } 2>/dev/null && sessions="$sessions $running_pid "
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
    case $sessions in *" $4 "*) pages=$((pages + ${22})) ;; esac
  done
  echo $((pages * $(getconf PAGESIZE 2>/dev/null || echo 4096) / 1048576))
}

wait_for_room() {
  [ "$reason" = "$said" ] || say "waiting $slot $reason"
  said=$reason
  sleep 5
}

# Job names sort in file order. New ones that arrive meanwhile are found on the next pass.
work_through() {
  for dir in jobs/*; do
    is_waiting || continue
    until has_room_now; do
      wait_for_room
      is_waiting || continue 2
    done
    said=
    take && run_job
  done
}

# Creating the claim is taking the job: of two slots, or a slot and a client that takes back, one succeeds.
take() {
  set -C
  { true >"$dir/claim"; } 2>/dev/null
  taken=$?
  set +C
  [ "$taken" = 0 ] || return 1
  echo "slot $slot" >"$dir/claim" && return
  # A full disk lets a file be made, but not written: it is nobody's again.
  rm -f "$dir/claim"
  reason="the disk is full: $PWD"
  wait_for_room
  return 1
}

# Asked again at the moment a job starts; the cards at most every ten seconds, since a call can take a second.
has_room_now() {
  has_memory "$need_memory" || return 1
  uptime_now
  [ -n "$checked_at" ] && [ $((now - checked_at)) -lt 1000 ] && return 0
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
  job='' watchdog=''
  # What was handed over a moment before the machine went down may be on its disk in name only.
  if [ ! -s "$dir/command" ] || [ ! -s "$dir/tree" ]; then
    end_with lost 0
    return
  fi
  # The keeper: a subshell that outlives the loop if somebody kills that, since it alone learns the exit code.
  (
    read -r keeper _ <"$proc/self/stat"
    start_of "$keeper"
    echo "$keeper $started $boot_id" >"$dir/keeper"
    uptime_now
    begun=$now
    # Thrown overboard at the end: a job that fills the disk must not keep us from writing that it ended.
    printf '%8192s' '' >"$dir/ballast"
    make_work 2>>"$dir/err" && [ ! -e "$dir/stopped" ] && start_job && wait "$job"
    code=$?
    end_leftovers
    uptime_now
    wind_up "$code" $((now - begun))0
  ) &
  wait $! || see_to_end
  true >"$mine/running"
}

make_work() {
  name_tree
  [ "$tree" != - ] || return 0
  if ! cp -a "$tree/." "$dir/work/"; then
    echo "sshoal: the working directory could not be copied for this job" >&2
    return 125
  fi
  true >"$dir/began"
  # File times move in steps of up to 10 ms: what the job changes must be later than "began".
  sleep 0.02
}

# "-": the job begins in an empty directory.
name_tree() {
  read -r tree tree_has_directories <"$dir/tree"
  [ "$tree" = - ] || tree=$root/trees/$tree
}

start_job() {
  # All three streams are redirected, or whoever holds the other end would wait for the job's children too.
  (cd "$dir/work" && as_at_login && SSHOAL_ATTEMPT=$attempt exec setsid "$shell" ../command) \
    </dev/null >>"$dir/out" 2>>"$dir/err" &
  job=$!
  start_of "$job"
  echo "$job $started $boot_id" >"$dir/pid"
  echo "$key $job $started" >"$mine/running"
  say "started $key $slot"
  [ "$limit" -gt 0 ] || return 0
  watch &
  watchdog=$!
}

# The spool is private and its scripts speak C; what a job makes and says is as the user has it elsewhere.
as_at_login() {
  umask "${login_umask:-077}"
  unset LC_ALL
  [ -z "${login_locale-}" ] || export LC_ALL="$login_locale"
}

watch() {
  # Set before there is a sleeper, or a quick job would leave it behind; until then $! is the job. And KILL, since
  # a child that has not got to its exec yet can lose any other signal.
  trap '[ "$!" = "$job" ] || kill -KILL "$!"; exit' TERM
  sleep "$limit" &
  wait $! && true >"$dir/timed-out" && end_tree "$job" "$attempt"
}

# A slot's next job must find its card free: children that the job left behind end with it.
end_leftovers() {
  [ -n "$watchdog" ] && [ ! -e "$dir/timed-out" ] && kill "$watchdog" 2>/dev/null
  [ -n "$watchdog" ] && wait "$watchdog"
  watchdog=
  [ -n "$job" ] && kill -0 "-$job" 2>/dev/null && end_tree "$job" "$attempt"
}

# Unchanged inputs are no results. Told by ctime, which no program can set back, or by content where find cannot.
# A clock that is set back can: so only what is also in the tree, and as old as there, is taken for unchanged.
keep_results() {
  name_tree
  [ "$tree" != - ] && [ "$copy_unchanged" = 0 ] || return 0
  cd "$dir/work" || return
  if find . -prune -cnewer ../began >/dev/null 2>&1; then
    find . ! -type d ! -cnewer ../began -exec sh -c 'tree=$1; shift
      for file; do
        if [ -h "$file" ]; then [ -h "$tree/$file" ]
        else [ -e "$tree/$file" ] && ! [ "$file" -nt "$tree/$file" ] && ! [ "$file" -ot "$tree/$file" ]
        fi && printf "%s\0" "$file"
      done' sh "$tree" {} + | xargs -0 rm -f
  else
    find . ! -type d -exec sh -c 'tree=$1; shift
      for file; do
        if [ -h "$file" ]; then [ -h "$tree/$file" ] && [ "$(readlink "$file")" = "$(readlink "$tree/$file")" ]
        else [ ! -h "$tree/$file" ] && cmp -s "$file" "$tree/$file"; fi && rm -f "$file"
      done' sh "$tree" {} +
  fi
  [ "$tree_has_directories" = 0 ] || (cd "$tree" && find . -depth -type d ! -path . -print0) | xargs -0 rmdir 2>/dev/null
  cd "$OLDPWD" || return
}

main
