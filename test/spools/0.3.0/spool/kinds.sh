# Replaces functions of slot.sh for batches with jobs of several kinds: is_waiting, work_through, may_claim and
# wait_for_room. The slots of each kind were planned as if they were alone on the machine. With these functions they
# share it, under the lock. "room" has the kind of a slot, what its jobs use, and how much there is for all: cores and
# shares of cards in thousandths, memory in MB.

# What this slot last wrote to "wants"; "?": unknown, because an earlier loop wrote it.
wished='?'
# The job that waits ($next), and whether it waits for a job of another kind ($kin).
next='' kin=''
{ read -r kind && read -r own_cpus all_cpus all_jobs; } <"$mine/room"

is_waiting() {
  [ -e "$1/command" ] && [ ! -e drain ] && [ ! -e "$1/claim" ] && is_for "$slot" "$1"
}

# Runs only one job, so that one kind does not block another.
work_through() {
  wish ''
  checked_at=
  for each in jobs/*; do
    is_waiting "$each" || continue
    choose_job "$each"
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

# The current job is the first one that this slot could take.
may_claim() {
  next=$key
  cpus=$own_cpus running=1 held='' kin='' first=''
  for other in slots/*; do
    [ "$other" != "$mine" ] && is_live "$other/loop" && [ -e "$other/room" ] || continue
    if [ -s "$other/claim" ]; then
      add_up
    elif is_before_us; then
      first=${ahead##*-}
    fi
  done
  reason="other jobs of the batch have the machine"
  [ "$need_machine" = 0 ] || [ -z "$held" ] || return 1
  reason="max_jobs: as many jobs of the batch are running"
  [ "$running" -le "$all_jobs" ] || return 1
  reason="cores: other jobs of the batch have them"
  [ "$cpus" -le "$all_cpus" ] || return 1
  have_cards_room || return 1
  reason="job $first comes first"
  [ -z "$first" ]
}

# Reads what the slot of $other uses into $cpus, $running and $held; sets $kin if it is of another kind.
add_up() {
  {
    read -r other_kind
    read -r used _
    cpus=$((cpus + used)) running=$((running + 1)) held="$held - 0 0"
    while read -r card used_mb used_share _; do held="$held $card $used_mb $used_share"; done
  } <"$other/room"
  [ "$other_kind" = "$kind" ] || kin=yes
}

# True if an earlier job of another kind waits for the room that this slot is about to take. Its slot writes that to
# "wants".
is_before_us() {
  { read -r ahead other_kind wanted <"$other/wants"; } 2>/dev/null || return 1
  # A key begins with its rank.
  [ "$other_kind" != "$kind" ] && [ "${ahead%%-*}" -lt "${next%%-*}" ] || return 1
  ahead=${ahead%-*}
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

# Slots with later jobs let this one go first, but only while it waits for jobs of this batch: waiting for other
# people's jobs would be in vain.
wait_for_room() {
  tell
  wanted=all
  case $reason in GPU* | job*) wanted=$need_cards ;; esac
  wish "${kin:+$next $kind $wanted}"
  [ "$reason" = "$said" ] || say "waiting $slot $reason"
  said=$reason
  sleep 1
}

# wish LINE: writes it to "wants", or removes "wants" if LINE is empty. An unchanged line is not written again, because
# a reader could see half of it.
wish() {
  if [ -z "$1" ]; then
    [ ! -e "$mine/wants" ] || rm -f "$mine/wants"
  elif [ "$1" != "$wished" ] || [ ! -e "$mine/wants" ]; then
    echo "$1" >"$mine/wants"
  fi
  wished=$1
}
