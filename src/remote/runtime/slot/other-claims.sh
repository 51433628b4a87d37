# The claims of all other slots. Those of other accounts are data: no links, only regular files of at most 4 kB, and any text
# may be in them. Without flock, no slot can find out which of them are alive, and they do not count.

# The files of claims, and of those that no process had when this slot looked; one per line.
claims='' dead=''
# Of the question: claims of older spools, and the memory that claims use.
old_claims='' used=''
# Directories with their owners: " <directory>=<owner> …". This account is "-".
own_dirs='' owners=''
# What find printed of directories of other accounts: those that are small, and the claims in all of them.
found=''
# Directories of other accounts, as words: all that are named so, those that were looked at, and those that count.
seen_dirs='' known_dirs='' other_dirs=''
# Names of directories of this account: all that exist, and those in which no other account can put a file.
own_names='' private_dirs=''
# The words that end a program which takes too long: a file could become a fifo, which blocks.
time_limit=''

# Before the lock, and again under it if a directory has come since. Sets $other_dirs. Each has the number of its owner in its name,
# so that one account has at most three.
find_dirs() {
  see_own_dirs
  own_dirs=' '
  for each_dir in "$claims_root/.sshoal-claims-$uid" "$claims_root/.sshoal-claims-$uid.1" "$claims_root/.sshoal-claims-$uid.2" \
    "$base/claims@$host"; do
    own_dirs="$own_dirs$each_dir=- "
  done
  see_dirs
  known_dirs=$seen_dirs other_dirs=''
  # shellcheck disable=SC2086
  [ -z "$seen_dirs" ] || other_dirs=$(print_named_right $seen_dirs)
  find_others
}

# Without a fork, unless a directory has come since.
see_own_dirs() {
  set --
  for each_dir in "$claims_root/.sshoal-claims-$uid" "$claims_root/.sshoal-claims-$uid.1" "$claims_root/.sshoal-claims-$uid.2" \
    "$base/claims@$host"; do
    ! is_own "$each_dir" || set -- "$@" "$each_dir"
  done
  [ "$*" != "$own_names" ] || return 0
  own_names=$*
  private_dirs=$(for each_dir; do ! is_closed "$each_dir" || printf '%s ' "${each_dir##*/}"; done)
}

# True for a directory of this account that others cannot write: another account could move one that they can write to the
# place of the claims, and put links to files of this account into it.
is_closed() {
  is_own "$1" && case $(ls -ld "$1" 2>/dev/null 3<&- 4<&- 9<&-) in d????-??-*) ;; *) return 1 ;; esac
}

# Without a fork.
see_dirs() {
  seen_dirs=''
  has_flock || return 0
  set --
  for each_dir in "$claims_root"/.sshoal-claims-*; do
    case ${each_dir##*/.sshoal-claims-} in *[!0-9.]*) continue ;; esac
    [ ! -d "$each_dir" ] || [ -L "$each_dir" ] || [ -O "$each_dir" ] || set -- "$@" "$each_dir"
  done
  seen_dirs=$*
}

# print_named_right DIR…: prints those that are named after their owner.
print_named_right() {
  exec 3<&- 4<&- 9<&-
  printf '%s\0' "$@" | xargs -0 ls -ldn 2>/dev/null | while read -r mode _ owner _ _ _ _ _ path; do
    case $mode in d*) ;; *) continue ;; esac
    case $path in
      "$claims_root/.sshoal-claims-$owner" | "$claims_root/.sshoal-claims-$owner".[12]) printf '%s ' "$path" ;;
    esac
  done
}

# Sets $claims and $old_claims, under the lock. Names of other accounts are looked up only for reasons (name_owners). Fails if another
# account has come since the allocator began, which then has no time limit.
list_claims() {
  claims=
  see_own_dirs
  see_dirs
  had_limit=$time_limit
  [ "$seen_dirs" = "$known_dirs" ] || find_dirs
  [ "$had_limit" = "$time_limit" ] || return
  confirm_dead
  for each_dir in "$claims_root/.sshoal-claims-$uid" "$claims_root/.sshoal-claims-$uid.1" "$claims_root/.sshoal-claims-$uid.2" \
    "$base/claims@$host"; do
    case " $private_dirs" in *" ${each_dir##*/} "*) ;; *) continue ;; esac
    is_own "$each_dir" || continue
    for each in "$each_dir"/*@*.*; do add_own; done
  done
  [ -z "$other_dirs" ] || add_others
  list_old_claims
}

add_own() {
  [ -s "$each" ] && [ -f "$each" ] && [ ! -L "$each" ] || return 0
  case ${each##*/} in *[\ "$newline"]*) return 0 ;; esac
  has_flock || ! is_left_over || return 0
  add_claim
}

# True if $each is of a slot of this account of which no process lives.
is_left_over() {
  place=${each##*/}
  place=$base/batches/${place%.*}/slots/${each##*.}
  is_dead "$place/loop" && is_dead "$place/keeper" && is_dead "$place/job"
}

# Adds $each, unless it is this slot's own, or no process has it.
add_claim() {
  [ -n "$claim_file" ] && [ "$each" -ef "$claim_file" ] && return 0
  case $newline$dead$newline in *"$newline$each$newline"*) ;; *) claims="$claims${claims:+$newline}$each" ;; esac
}

# Sets $found: regular files of at most 4 kB, and directories of at most 4 kB, which the shell can list in no time. The limit also
# bounds the allocator, which may have to wait for the lock first.
find_others() {
  found=
  [ -n "$other_dirs" ] || return 0
  [ -n "$time_limit" ] || ! command -v timeout >/dev/null 2>&1 || time_limit='timeout 10'
  # shellcheck disable=SC2086
  found=$(exec $time_limit find $other_dirs -maxdepth 1 ! -name "*[$newline ]*" -size -9 \
    \( -type d -name '.sshoal-claims-*' -o -type f -name '*@*.*' ! -name '.*' \) 2>/dev/null 3<&- 4<&- 9<&-)
}

# At most 100 of a directory and 1000 in all, so that one account cannot hide the claims of others, nor take much time. A file
# that has come since find looked is looked at by find, too.
add_others() {
  ! has_come || find_others
  counted_dir='' counted_all=0
  for_lines add_other "$found"
}

# Without a fork.
has_come() {
  for each_dir in $other_dirs; do
    was_found "$each_dir" || return 0
    for each in "$each_dir"/*@*.*; do
      [ ! -s "$each" ] || was_found "$each" || return 0
    done
  done
  return 1
}

was_found() {
  case $newline$found$newline in *"$newline$1$newline"*) ;; *) return 1 ;; esac
}

# find prints the files of one directory after the other.
add_other() {
  case ${each##*/} in .*) return 0 ;; esac
  [ -s "$each" ] && [ -f "$each" ] && [ ! -L "$each" ] || return 0
  [ "${each%/*}" = "$counted_dir" ] || counted_dir=${each%/*} counted=0
  counted=$((counted + 1))
  [ "$counted" -le 100 ] && [ "$counted_all" -lt 1000 ] || return 0
  counted_all=$((counted_all + 1))
  add_claim
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

# Without the lock.
has_claims() {
  list_claims
  [ -n "$claims" ]
}
