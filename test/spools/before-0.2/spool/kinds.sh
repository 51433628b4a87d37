# For a slot of a batch whose jobs are of several kinds, in place of what slot.sh says. The slots of each kind were planned as
# if they were alone on the machine: here, under the lock, they share what there is. "room" says of which kind a slot is, what
# its jobs use and how much there is for all: cores and shares of cards in thousandths, memory in MB.

# What an earlier loop of this slot wished for is not known.
wished='?'
{ read -r kind && read -r own_cpus all_cpus all_jobs; } <"$mine/room"

is_waiting() {
  [ -e "$dir/command" ] && [ ! -e drain ] && [ ! -e "$dir/claim" ] && is_for "$slot"
}

# Of one job, so that no kind is kept waiting by another that is always there first.
work_through() {
  wish ''
  checked_at=
  for dir in jobs/*; do
    is_waiting || continue
    has_loop || break
    if has_room_now; then
      said=
      take || continue
      run_job
    else
      kin=
      wait_for_room
    fi
    break
  done
  true >"$mine/claim"
}

# $dir is the first job that this slot could take.
may_claim() {
  next=${dir#jobs/}
  cpus=$own_cpus running=1 held='' kin='' first=''
  for other in slots/*; do
    [ "$other" != "$mine" ] && is_live "$other/loop" && [ -e "$other/room" ] || continue
    if [ -s "$other/claim" ]; then
      add_up
    elif is_before_us; then
      first=$ahead
    fi
  done
  reason="other jobs of the batch have the machine"
  [ "$need_machine" = 0 ] || [ -z "$held" ] || return 1
  reason="max_jobs: as many jobs of the batch are running"
  [ "$running" -le "$all_jobs" ] || return 1
  reason="cores: other jobs of the batch have them"
  [ "$cpus" -le "$all_cpus" ] || return 1
  have_cards_room || return 1
  reason="line $first comes first"
  [ -z "$first" ]
}

# What the slot of $other uses, into $cpus, $running and $held; $kin: it is of another kind.
add_up() {
  {
    read -r other_kind
    read -r used _
    cpus=$((cpus + used)) running=$((running + 1)) held="$held - 0 0"
    while read -r card used_mb used_share _; do held="$held $card $used_mb $used_share"; done
  } <"$other/room"
  [ "$other_kind" = "$kind" ] || kin=yes
}

# An earlier line of another kind waits for what we are about to take. Such a slot says so in "wants".
is_before_us() {
  { read -r ahead other_kind wanted <"$other/wants"; } 2>/dev/null || return 1
  [ "$other_kind" != "$kind" ] && [ "$((1${ahead%-*}))" -lt "$((1${next%-*}))" ] || return 1
  ahead=$((1${ahead%-*} - 10000000))
  [ "$wanted" != all ] || return 0
  for card in $(echo "$need_cards" | tr , ' '); do
    case ",$wanted," in *",$card,"*) return 0 ;; esac
  done
  return 1
}

have_cards_room() {
  {
    read -r _ && read -r _
    while read -r card card_mb card_share free_mb free_share; do
      # shellcheck disable=SC2086
      set -- $held
      while [ $# -gt 0 ]; do
        [ "$1" != "$card" ] || card_mb=$((card_mb + $2)) card_share=$((card_share + $3))
        shift 3
      done
      reason="GPU $card: other jobs of the batch are there"
      [ "$card_mb" -le "$free_mb" ] && [ "$card_share" -le "$free_share" ] || return 1
    done
  } <"$mine/room"
}

# Others of later lines let us pass, but only while it is jobs of this batch that we wait for: for people's, that would be
# in vain.
wait_for_room() {
  tell
  wanted=all
  case $reason in GPU* | line*) wanted=$need_cards ;; esac
  wish "${kin:+$next $kind $wanted}"
  [ "$reason" = "$said" ] || say "waiting $slot $reason"
  said=$reason
  sleep 1
}

# What is said already is not written again: somebody might read while it is half written. A keeper of ours takes it away.
wish() {
  if [ -z "$1" ]; then
    [ ! -e "$mine/wants" ] || rm -f "$mine/wants"
  elif [ "$1" != "$wished" ] || [ ! -e "$mine/wants" ]; then
    echo "$1" >"$mine/wants"
  fi
  wished=$1
}
