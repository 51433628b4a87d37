# Lists and removes what this user's batches left on this machine. Runs after lib.sh, with $root set. Does not touch
# directories of other machines in a shared home, because this machine cannot tell whether they are in use.

newline='
'

. ./left-over/remove.sh

tell_all() {
  find_roots
  each_root tell_batches
  each_root tell_trees
}

# Links beside the batches in the home lead to batches in other directories.
find_roots() {
  roots=
  add_root "$base"
  add_root "$root"
  for link in "$base"/batches/*"@$host"; do
    [ -L "$link" ] || continue
    target=$(readlink "$link")
    case $target in /*/.sshoal/batches/"${link##*/}") add_root "$(safe_root "${target%/batches/*}")" ;; esac
  done
}

# safe_root DIR: prints the real path of DIR; prints nothing if another account could change it.
safe_root() {
  base='' root=$1
  resolve_root && check_above 2>/dev/null && is_own "$root" && printf '%s' "$root"
}

add_root() {
  [ -d "$1" ] || return 0
  new=$1
  each_root is_new || return 0
  roots=$roots$new$newline
}

is_new() {
  ! [ "$at" -ef "$new" ]
}

# each_root COMMAND…: runs it with $at set to each root; stops if the command fails.
each_root() {
  left=$roots
  while [ -n "$left" ]; do
    at=${left%%"$newline"*}
    left=${left#*"$newline"}
    "$@" || return 1
  done
}

tell_batches() {
  for dir in "$at"/batches/*; do
    [ -d "$dir" ] || continue
    name=${dir##*/}
    case $name in
      *[[:cntrl:]]*) name=- ;;
      *"@$host") name=${name%"@$host"} ;;
      *) name=- ;;
    esac
    tell_uses
    [ "$name" = - ] || ! is_directory || tell_batch
  done
}

is_directory() {
  [ -d "$dir" ] && [ ! -L "$dir" ]
}

tell_uses() {
  [ -O "$dir" ] && [ -r "$dir/trees" ] || return 0
  sort -u "$dir/trees" | while read -r tree; do
    printf 'uses %s %s\n' "$tree" "$name"
  done
}

tell_batch() {
  count_jobs
  alive=0
  is_used && alive=1
  size_of "$dir"
  printf 'batch %s %s %s %s %s %s\n' "$kb" "$alive" "$ended" "$waiting" "$running" "$name"
  [ "$kept" = 0 ] || tell_kept
}

# For the jobs in $dir: ended jobs, and jobs that were lost with the machine, have results to collect. Kept jobs are
# collected, and have a directory for the next attempt.
count_jobs() {
  ended=0 waiting=0 running=0 kept=0
  for job in "$dir"/jobs/*; do
    [ -e "$job/command" ] || continue
    if [ -e "$job/collected" ]; then
      ! is_kept || kept=$((kept + 1))
    elif [ -s "$job/exit" ]; then
      ended=$((ended + 1))
    elif [ ! -e "$job/claim" ]; then
      waiting=$((waiting + 1))
    elif (cd "$dir" && is_under_way "${job##*/}"); then
      running=$((running + 1))
    else
      taker=
      read -r taker _ <"$job/claim"
      [ "$taker" = client ] || ended=$((ended + 1))
    fi
  done
}

is_kept() {
  [ -e "$job/collected" ] && { [ -d "$job/work" ] || [ -d "$job/aside" ]; }
}

# Each by the name of its job, from the job's environment.
tell_kept() {
  for job in "$dir"/jobs/*; do
    is_kept || continue
    printf 'keeps %s %s\n' "$name" "$(sed -n "s/^export SSHOAL_JOB=//p" "$job/command" | head -n 1 | tr -d "'")"
  done
}

is_under_way() {
  is_running "$1"
  [ $? = 1 ] || return 0
  [ -n "$runner" ] && ! is_dead "slots/$runner/keeper" && [ "$live_job" = "$1" ]
}

# True if a process uses $dir, after count_jobs: a slot, a job, or a client that is connected or handing over, on any
# host.
is_used() {
  [ "$running" = 0 ] || return 0
  for loop in "$dir"/slots/*/loop "$dir/holder"; do
    is_dead "$loop" || return 0
  done
  for incoming in "$dir"/incoming.*; do
    [ -d "$proc/${incoming##*.}" ] && return 0
  done
  for process in "$proc"/[0-9]*; do
    [ "$process/cwd" -ef "$dir" ] && return 0
  done
  return 1
}

size_of() {
  kb=$(du -sk "$1" 2>/dev/null)
  kb=${kb%%[!0-9]*}
  kb=${kb:-0}
}

tell_trees() {
  for dir in "$at"/trees/*; do
    is_directory || continue
    name=${dir##*/}
    case $name in *[[:cntrl:]]*) continue ;; esac
    size_of "$dir"
    age_of "$dir"
    printf 'tree %s %s %s\n' "$kb" "$age" "$name"
  done
}

# Seconds since the tree was last staged or found present; "-": unknown.
age_of() {
  modified=$(stat -c %Y "$1" 2>/dev/null)
  age=-
  [ -z "$modified" ] || age=$(($(date +%s) - modified))
}
