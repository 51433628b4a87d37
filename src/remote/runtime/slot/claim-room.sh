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
