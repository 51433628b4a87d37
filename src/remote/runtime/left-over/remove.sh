# Removes a batch or a tree that no process uses.

# remove_batch NAME FORCE: unless it is used or, without FORCE 1, has anything to collect. Looks again: the list that the
# client has may be old.
remove_batch() {
  name=$1 force=$2
  each_root remove_batch_here
  [ ! -L "$base/batches/$name@$host" ] || [ -e "$base/batches/$name@$host" ] || rm -f "$base/batches/$name@$host"
}

remove_batch_here() {
  dir=$at/batches/$name@$host
  is_directory || return 0
  remove "batch $name" may_remove_batch
}

may_remove_batch() {
  count_jobs
  ! is_used || return 1
  [ "$force" = 1 ] || [ $((ended + waiting + running + kept)) = 0 ]
}

# remove_tree NAME MIN_AGE: unless a batch has it or MIN_AGE seconds have not gone by: it may be about to be used.
remove_tree() {
  name=$1 min_age=$2
  each_root remove_tree_here
}

remove_tree_here() {
  dir=$at/trees/$name
  is_directory || return 0
  remove "tree $name" may_remove_tree
}

may_remove_tree() {
  # Half a tree, named for the process that is receiving it.
  case $name in incoming.*) [ ! -d "$proc/${name##*.}" ] || return 1 ;; esac
  age_of "$dir"
  [ "$age" != - ] && [ "$age" -ge "$min_age" ] || return 1
  ! any_uses "$name" "$at"/batches/* "$base"/batches/*
}

# remove WHAT TEST: $dir, under the lock that slots begin under, so that none begins in what is about to go. It is
# moved away in one step and then deleted, so that no process finds half of it.
remove() {
  aside=$at/removing.$$
  if ! with_lock "$lock" set_aside "$2"; then
    echo "kept $1"
  elif [ -d "$aside" ] && discard; then
    echo "removed $1"
  else
    remains=$dir
    [ ! -d "$aside" ] || mv "$aside" "$dir" 2>/dev/null || remains=$aside
    echo "stuck $1"
    echo "left $1 $remains"
  fi
}

# Fails when it may not go. A directory that is closed even to its owner cannot be moved.
set_aside() {
  [ ! -e "$aside" ] && "$1" || return 1
  mv "$dir" "$aside" 2>/dev/null || { chmod u+rwx "$dir" && mv "$dir" "$aside"; } || true
}

# Should it stay in part, and be moved back, no slot may take a half removed job of it for a waiting one.
# Of files no mode is changed: other trees have them too.
discard() {
  [ ! -e "$aside/slot.sh" ] || [ ! -d "$aside/jobs" ] || mv "$aside/jobs" "$aside/gone" || return 1
  rm -rf "$aside" 2>/dev/null ||
    { find "$aside" -type d ! -perm -700 -exec chmod u+rwx {} \; 2>/dev/null && rm -rf "$aside"; }
}

# What a removal that was cut off has left, perhaps one by an earlier process of our number.
discard_old() {
  for aside in "$at"/removing.*; do
    [ -d "$aside" ] || continue
    [ "${aside##*.}" != $$ ] && [ -d "$proc/${aside##*.}" ] || discard
  done
}
