# The sampler: sh sampler.sh SPOOL. Measures what the jobs of all slots of this account on this machine use, every two seconds, and
# writes the most that it saw to each slot's file "peak". One runs per account. It ends when no slot has a keeper. Nothing
# depends on it: if it is killed, the next job starts another.

root=${1%/batches/*}
cd "$1" || exit 1
. ./own.sh
# boot_id, host, here, proc, base, lock.
. ./lib.sh
me=$base/sampler@$host
# The batch that started it may be removed.
cd "$base" || exit 1

# Its line in $me, and its start in ticks of the kernel. In hundredths of a second: when that was, when it last measured, and when it
# last asked for cards.
line='' born='' born_at='' looked_at='' asked_at=''
# Not empty once a loop has ended, so that the sampler may have to end as well; and the pid of its sleep.
is_woken='' sleeper=''
page_bytes=$(getconf PAGESIZE 2>/dev/null) || page_bytes=4096
ticks=$(getconf CLK_TCK 2>/dev/null) || ticks=100

. ./sampler/measure.sh

main() {
  # Before $me names it, because loops wake that process.
  trap 'is_woken=yes; [ -z "$sleeper" ] || kill -KILL "$sleeper"' USR1
  with_lock "$lock" become_the_sampler || exit 0
  exec 2>/dev/null
  is_needed || exit 0
  while nap && is_needed; do look; done
}

become_the_sampler() {
  is_dead "$me" || return 1
  start_of $$
  uptime_now
  line="$$ $started $here" born=$started born_at=$now looked_at=$now
  echo "$line" >"$me"
}

# The file is gone if the account has removed its directory, and another sampler may have written one since.
is_needed() {
  read -r holder _ <"$me" && [ "$holder" = $$ ] || return 1
  has_keeper || ! with_lock "$lock" leave
}

# A keeper writes its file first, and then looks for a sampler. So either it finds none, or it is found here.
leave() {
  rm -f "$me"
  has_keeper || return 0
  echo "$line" >"$me"
  return 1
}

# A link may lead to a directory that another account has made since.
has_keeper() {
  for keeper in "$base"/batches/*/slots/*/keeper; do
    [ -s "$keeper" ] && [ -O "${keeper%/keeper}" ] && is_live "$keeper" && return 0
  done
  return 1
}

# KILL, because a child that has not reached its exec yet can lose any other signal.
nap() {
  sleep 2 &
  sleeper=$!
  [ -z "$is_woken" ] || kill -KILL "$sleeper"
  wait "$sleeper"
  sleeper='' is_woken=''
}

# It may have been woken early.
look() {
  uptime_now
  [ $((now - looked_at)) -ge 190 ] || return 0
  looked_at=$now
  set --
  jobs='' wants_cards=''
  for slot in "$base"/batches/*/slots/*; do
    [ -s "$slot/job" ] && [ -O "$slot" ] && is_live "$slot/job" && [ -n "$live_job" ] || continue
    set -- "$@" "$slot"
    peak=
    read -r peak <"$slot/peak"
    jobs="${jobs}job $# $live_pid $live_start $live_job $peak
"
    ! has_cards "$slot/claim" || wants_cards=yes
  done
  [ $# != 0 ] || return 0
  # Not in the pipeline, which would forget when it asked.
  ask_cards
  measure | keep_peaks "$@"
}

# has_cards NEED: true if the jobs of that slot use cards.
has_cards() {
  read -r _ _ card_mb _ _ _ cards <"$1"
  [ "${card_mb:-0}" != 0 ] || [ "${cards:--}" != - ]
}

# keep_peaks SLOT…: reads one line for each; "-": nothing is known.
keep_peaks() {
  for slot; do
    IFS= read -r peak || return
    [ "$peak" = - ] || echo "$peak" >"$slot/peak"
  done
}

main
