# The claims of all other slots. Those of other accounts are data: no links, only regular files of at most 4 kB, and any text
# may be in them. Without flock, no slot can find out which of them are alive, and they do not count.

# The files of claims, and of those that no process had when this slot looked; one per line.
claims='' dead=''
# Of the question: claims of older spools, and the memory that claims use.
old_claims='' used=''
# Directories with their owners: " <directory>=<owner> …". This account is "-".
own_dirs='' owners=''
# The words that end a program which takes too long: a file could become a fifo, which blocks.
time_limit=''

# Sets $claims, $own_dirs and $old_claims. Names of other accounts are looked up only for reasons (name_owners).
list_claims() {
  claims='' own_dirs=' '
  confirm_dead
  set --
  for each_dir in "$claims_root"/.sshoal-claims-* "$base/claims@$host"; do
    if is_own "$each_dir"; then
      own_dirs="$own_dirs$each_dir=- "
      for each in "$each_dir"/*; do [ ! -s "$each" ] || [ ! -f "$each" ] || is_left_over || add_claim; done
    elif is_claims_dir; then
      set -- "$@" "$each_dir"
    fi
  done
  [ $# = 0 ] || add_others "$@"
  list_old_claims
}

# True if $each_dir is of another account and named as ours.
is_claims_dir() {
  has_flock && [ -d "$each_dir" ] && [ ! -L "$each_dir" ] || return 1
  case ${each_dir##*/.sshoal-claims-} in *[!0-9.]*) return 1 ;; esac
}

# True if, without flock, $each is of a slot of this account of which no process lives.
is_left_over() {
  ! has_flock || return 1
  place=${each##*/}
  place=$base/batches/${place%.*}/slots/${each##*.}
  is_dead "$place/loop" && is_dead "$place/keeper" && is_dead "$place/job"
}

# Adds $each, unless it is this slot's own, or no process has it.
add_claim() {
  [ -n "$claim_file" ] && [ "$each" -ef "$claim_file" ] && return 0
  case $newline$dead$newline in *"$newline$each$newline"*) ;; *) claims="$claims${claims:+$newline}$each" ;; esac
}

# At most 100 of a directory, so that one account cannot hide the claims of others.
add_others() {
  [ -n "$time_limit" ] || ! command -v timeout >/dev/null 2>&1 || time_limit='timeout 5'
  counted_dir='' counted=0
  for_lines add_other "$(exec find "$@" -maxdepth 1 -type f -size -9 -name '*@*.*' ! -name "*[$newline ]*" 2>/dev/null 4<&- 9<&-)"
}

# find prints the files of one directory after the other.
add_other() {
  [ "${each%/*}" = "$counted_dir" ] || counted_dir=${each%/*} counted=0
  counted=$((counted + 1))
  [ "$counted" -gt 100 ] || add_claim
}

# for_lines COMMAND TEXT: calls COMMAND for each line, which is in $each.
for_lines() {
  set -f
  IFS=$newline
  # shellcheck disable=SC2086
  set -- "$1" $2
  unset IFS
  set +f
  for_lines_do=$1
  shift
  for each; do "$for_lines_do"; done
}

# Sets $old_claims: slots of older spools of this account, which claim in their spools only.
list_old_claims() {
  old_claims=
  for each_dir in "$base"/batches/*; do
    [ ! -d "$each_dir/needs" ] && [ -O "$each_dir" ] || continue
    for each in "$each_dir"/slots/*; do
      [ -s "$each/claim" ] && is_live "$each/loop" && read_claim "$each/claim" || continue
      place=${each_dir##*/}
      old_claims="$old_claims${newline}old $memory $cpus $gpu_memory $gpu_use $gpu $machine $cards ${place%@*}"
    done
  done
}

# Finds which claims no process has, who owns the directories, and how much memory the jobs of claims hold.
look_closer() {
  [ -n "$claims" ] || return 0
  name_owners
  dead=$(print_dead "$claims")
  page_kb=$(($(getconf PAGESIZE 2>/dev/null || echo 4096) / 1024))
  used=$({ printf '%s\n' "$claims" && cat "$proc"/[0-9]*/stat; } 2>/dev/null 4<&- |
    LC_ALL=C $time_limit awk -v page_kb="$page_kb" -f use.awk 2>/dev/null 4<&-)
}

# shellcheck disable=SC2012
name_owners() {
  owners=$(ls -ld "$claims_root"/.sshoal-claims-* 2>/dev/null 4<&- | while read -r _ _ owner _ _ _ _ _ path; do
    printf '%s=%s ' "$path" "$owner"
  done)
}

# Holds the lock: a slot that has come since may have made its claim in a file that had no process. Own files of killed loops are
# emptied, so that no slot looks at them again.
confirm_dead() {
  [ -n "$dead" ] || return 0
  dead=$(print_dead "$dead")
  for_lines empty_dead "$dead"
}

empty_dead() {
  ! is_own "${each%/*}" || [ ! -O "$each" ] || true >"$each"
}

# print_dead FILES: prints those that no process has.
# shellcheck disable=SC2016
print_dead() {
  has_flock || return 0
  printf '%s\n' "$1" | $time_limit sh -c 'while IFS= read -r file; do
    { flock -n 8 && printf "%s\n" "$file"; } 8<"$file"
  done' 2>/dev/null 4<&- 9<&-
}
