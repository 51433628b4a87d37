# Removes a batch or a tree that no process uses.

# remove_batch NAME FORCE: does nothing if it is used or, without FORCE 1, has anything to collect. Checks again,
# because the client's list may be old.
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

# remove_tree NAME MIN_AGE: does nothing if a batch uses it, or if it is younger than MIN_AGE seconds and may be about
# to be used.
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
  # An incomplete tree, named for the process that receives it.
  case $name in incoming.*) [ ! -d "$proc/${name##*.}" ] || return 1 ;; esac
  age_of "$dir"
  [ "$age" != - ] && [ "$age" -ge "$min_age" ] || return 1
  ! any_uses "$name" "$at"/batches/* "$base"/batches/*
}

# remove WHAT TEST: removes $dir, under the lock under which slots begin, so that none begins in it. It is moved away in
# one step and then deleted, so that no process finds half of it.
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

# Fails if it must stay. A directory without permissions for its owner cannot be moved.
set_aside() {
  [ ! -e "$aside" ] && "$1" || return 1
  mv "$dir" "$aside" 2>/dev/null || { chmod u+rwx "$dir" && mv "$dir" "$aside"; } || true
}

# If a part stays and is moved back, no slot may mistake a half-removed job for a waiting one. The modes of files stay,
# because other trees share the files.
discard() {
  [ ! -e "$aside/slot.sh" ] || [ ! -d "$aside/jobs" ] || mv "$aside/jobs" "$aside/gone" || return 1
  rm -rf "$aside" 2>/dev/null ||
    { find "$aside" -type d ! -perm -700 -exec chmod u+rwx {} \; 2>/dev/null && rm -rf "$aside"; }
}

# Removes what an interrupted removal left, perhaps by an earlier process with our pid.
discard_old() {
  for aside in "$at"/removing.*; do
    [ -d "$aside" ] || continue
    [ "${aside##*.}" != $$ ] && [ -d "$proc/${aside##*.}" ] || discard
  done
}
