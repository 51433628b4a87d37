# The slot's claim. It is a file that every account can read. The loop opens it, and its keeper and jobs inherit the
# descriptor 4 with its lock: a claim whose lock is free belongs to no process any more.

# The directory for the claims of all accounts, the file of this slot, which is empty if there is none, and the directory
# for what the slots of this account share.
claims_root=${SSHOAL_CLAIMS:-/tmp} claim_file='' common=''
# When a slot of this account last freed room, and the line that says so.
freed_at=0 freed=''
# The job that the claim names.
labelled=''

# Called by the loop. The claim of a job that an earlier loop left stays until that job has ended.
open_claim() {
  find_uid
  # Cleaning removes a directory without claims, perhaps just now.
  open_claim_file || open_claim_file || claim_file=
  case $claim_file in
    '' | "$base"/*) warn "no claim can be written in $claims_root: other accounts do not see what jobs use" ;;
  esac
}

# Sets $uid without a fork.
find_uid() {
  while read -r field _ uid _; do [ "$field" != Uid: ] || break; done <"$proc/self/status"
}

# Sets $claim_dir. Other accounts may have made the directories with these names. Then slots of this account still see each
# other's claims.
find_claim_dir() {
  for claim_dir in "$claims_root/.sshoal-claims-$uid" "$claims_root/.sshoal-claims-$uid.1" \
    "$claims_root/.sshoal-claims-$uid.2" "$base/claims@$host"; do
    [ -d "$claim_dir" ] || mkdir -m 755 "$claim_dir" 2>/dev/null
    is_closed "$claim_dir" && [ -w "$claim_dir" ] && return 0
  done
  claim_dir=
}

open_claim_file() {
  find_claim_dir
  common=${claim_dir:-$spool} claim_file=$claim_dir/${spool##*/}.$slot
  [ -n "$claim_dir" ] || return 1
  (umask 022 && true >>"$claim_file") 2>/dev/null && { command exec 4<"$claim_file"; } 2>/dev/null || return 1
  ! has_flock || lock_claim
}

# Shared, because a job of an earlier loop may have the lock, too. Another slot has it for a moment while it looks whether
# the claim is alive. A process of another account could keep it, which would only keep the claim alive.
lock_claim() {
  tries=0
  until flock -s -n 4 || [ "$tries" -ge 20 ]; do
    sleep 0.05
    tries=$((tries + 1))
  done
  return 0
}

# Writes the claim in place, because the lock is on the file. Older slots read the first line of the copy in the spool.
hold() {
  # Temporary directories are cleaned of old files now and then.
  [ -z "$claim_file" ] || [ "$claim_file" -ef "$proc/self/fd/4" ] || open_claim_file || claim_file=
  # The chosen job need not be the current one.
  label_claim "$chosen"
  if [ -n "$claim_file" ] && ! { printf '%s\n' "$text" >"$claim_file"; } 2>/dev/null; then
    true >"$claim_file"
    return 1
  fi
  { printf '%s\n' "$text" >"$mine/claim"; } 2>/dev/null || true >"$mine/claim"
}

# label_claim KEY: sets $text. A key is <rank>-<job>-<attempt>. The number of the job always has ten digits.
label_claim() {
  labelled=$1
  label=${1%-*}
  label=0000000000${label##*-}
  label=${label#"${label%??????????}"}
  text="$claim
by $room_batch $label $$
${given_lines}end"
}

# The slot keeps its claim for the current job. Only the label changes, in place, so that readers always see a whole claim.
relabel() {
  [ "$key" != "$labelled" ] || return 0
  label_claim "$key"
  [ ! -s "${claim_file:-/dev/null}" ] || { printf '%s\n' "$text" 1<>"$claim_file"; } 2>/dev/null
}

release() {
  [ -n "$held" ] || return 0
  held=
  empty_claim
}

# Other slots of this account look again when ".freed" changes.
empty_claim() {
  [ -s "$mine/claim" ] || [ -s "${claim_file:-/dev/null}" ] || return 0
  [ -z "$claim_file" ] || true >"$claim_file"
  true >"$mine/claim"
  uptime_now
  { echo "$now $boot_id $$" >"$common/.freed"; } 2>/dev/null
}

# Sets $freed and $freed_at.
look_at_freed() {
  freed_at=0 freed_boot='' freed=''
  { read -r freed_at freed_boot freed <"$common/.freed"; } 2>/dev/null
  freed="$freed_at $freed_boot $freed"
  [ "$freed_boot" = "$boot_id" ] || freed_at=0
}
