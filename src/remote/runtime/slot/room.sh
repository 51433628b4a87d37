# Decides whether a job may start. The slot keeps its claim for jobs that need the same or less. Otherwise it asks the
# allocator (room.awk), which compares what jobs need with what is free on the machine and with all claims.

# What the slot holds: whether it does, the need that it claimed for, when it claimed and when it last checked memory.
held='' held_mb='' held_cores='' held_machine='' held_rest='' held_at='' looked_at=''
# The kind of need that was read last, and what it needs (read_need).
kind='' need_mb='' need_cores='' need_machine='' need_rest='' need_lines=''
# The answer: the key of the job that may start, why others wait, and what the job is given (given.sh).
chosen='' reasons=''

# True if the current job may start. If it must wait, a later job that may start becomes the current job. Otherwise sets
# $reasons.
has_room() {
  find_kind
  if [ -n "$held" ] && is_covered && is_still_free; then
    relabel
    return 0
  fi
  ask_for_room
}

# Sets $kind and what jobs of this kind need. A job without a file "own" needs what the batch says.
find_kind() {
  new_kind=-
  [ ! -e "$dir/own" ] || read -r new_kind <"$dir/own"
  [ "$new_kind" = "$kind" ] || read_need "$new_kind"
}

# read_need KIND: sets $need_lines to its lines about cards and named resources, and $need_rest to the same without the
# kind.
read_need() {
  kind=$1 need_mb='' need_cores='' need_machine='' need_rest='' need_lines=''
  [ -e "needs/$1" ] || return 0
  while read -r word _ words; do
    case $word in
      need) split_need "$words" ;;
      *) need_rest="$need_rest$word $words$newline" need_lines="$need_lines$newline$word $1 $words" ;;
    esac
  done <"needs/$1"
}

# split_need WORDS: MB, cores, and whether the job has the whole machine.
split_need() {
  need_mb=${1%% *} need_machine=${1##* } need_cores=${1#* }
  need_cores=${need_cores%% *}
}

# A claim for more memory and cores is kept for a moment, so that jobs of several kinds do not ask in turn.
is_covered() {
  [ -n "$need_mb" ] && [ "$need_rest" = "$held_rest" ] && [ "$need_machine" = "$held_machine" ] &&
    [ "$need_mb" -le "$held_mb" ] && [ "$need_cores" -le "$held_cores" ]
}

# The slot asks again after ten seconds, for cards after two, because other processes may use the machine by now. Free
# memory is cheap to read, and is checked every second.
is_still_free() {
  uptime_now
  most_age=1000
  [ -z "$given_cards" ] || most_age=200
  [ $((now - held_at)) -lt "$most_age" ] && [ -s "${claim_file:-$mine/claim}" ] || return 1
  [ $((now - looked_at)) -ge 100 ] || return 0
  looked_at=$now
  measure_memory
  [ "$free_mb" != - ] && [ $((free_mb - keep_mb)) -ge "$need_mb" ]
}

# First only for the current job, and as if claims used nothing yet, which is quick. Only if that does not fit, the slot
# looks which claims are alive and what they use, and asks for all kinds of jobs that wait.
ask_for_room() {
  tell
  look_at_freed
  find_dirs
  used='' dead='' needs="need $key $kind $need_mb $need_cores $need_machine$need_lines"
  measure
  allot
  if [ -z "$chosen" ] && { has_claims || has_kinds; }; then
    # Before memory is measured: a job that grows in between must not count twice as free.
    look_closer
    gather_needs
    measure
    allot
  fi
  [ -n "$chosen" ] || { release; return 1; }
  if [ "$chosen" != "$key" ]; then
    choose_job "jobs/$chosen"
    find_kind
  fi
  held=new held_mb=$need_mb held_cores=$need_cores held_machine=$need_machine held_rest=$need_rest
  uptime_now
  held_at=$now looked_at=$now
  set_devices
}

# True if the spool has jobs of several kinds.
has_kinds() {
  set -- needs/*
  [ $# -gt 1 ]
}

# Sets $needs to the first waiting job of each kind, in the order of their jobs.
gather_needs() {
  set -- needs/*
  missing=$# seen=' ' first=$dir needs=
  for dir in jobs/*; do
    is_waiting "$dir" || continue
    find_kind
    case $seen in *" $kind "*) continue ;; esac
    seen="$seen$kind " missing=$((missing - 1))
    needs="$needs${needs:+$newline}need ${dir#jobs/} $kind $need_mb $need_cores $need_machine$need_lines"
    [ "$missing" -gt 0 ] || break
  done
  dir=$first
  find_kind
}

# Sets $chosen, $reasons, $claim and what the job is given, and writes the claim. The lock is taken by the process that prints the
# question, and freed when the claim is written.
allot() {
  for try in 1 2; do
    open_locks
    room_answer=$(answer_question)
    chosen='' reasons='' claim='' is_whole=''
    give_nothing
    read_answer <<ANSWER
$room_answer
ANSWER
    [ -z "$chosen" ] || hold || { chosen='' && reasons="wait $key $kind claim:-"; }
    free_locks
    [ -z "$is_whole" ] || break
    # Another account has come just now.
    find_dirs
  done
  # No answer: there are too few processes, or a file of another account blocks. No question: other slots took all jobs.
  [ -n "$chosen$reasons" ] || [ -z "$needs" ] || reasons="wait $key $kind answer:-"
}

# The allocator begins before the lock is taken, so that it has read its program by then. It has neither lock nor claim, which a process that
# stays behind would keep. gawk reads programs faster without a locale.
answer_question() {
  exec 4>&1
  print_question | LC_ALL=C $time_limit awk -v own_uid="$uid" -v own_pid="$$" -v owners="$own_dirs$owners" -f room.awk \
    2>/dev/null 3<&- 4>&- 9<&-
}

# The line "whole" shows that the allocator has seen every claim. Without it there is no answer.
print_question() {
  printf '%s\n' "$measured_facts" "$needs" "$used"
  take_locks
  list_claims || return
  printf '%s\n' "$old_claims" "$claims" && echo "whole $is_unlocked" >&4
}

read_answer() {
  while read -r word first second third rest; do
    case $word in
      whole) is_whole=yes is_unlocked=$first ;;
      wait) reasons="$reasons${reasons:+$newline}wait $first $second $third${rest:+ $rest}" ;;
      start) [ -z "$is_whole" ] || chosen=$first claim="$third $rest" ;;
      card) give_card ;;
      got) give_part ;;
    esac
  done
}
