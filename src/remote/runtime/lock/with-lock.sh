# A lock between processes of this account: a kernel lock where there is flock, else a file that names its holder.

# with_lock FILE COMMAND…: uses a kernel lock, which is freed even after SIGKILL. Without flock, a file names the
# holder.
with_lock() {
  open_lock "$1"
  take_lock
  shift
  "$@" 9>&-
  lock_status=$?
  free_lock
  return "$lock_status"
}

# A process may open the lock, and let a child take it: the lock belongs to the descriptor that both have.
open_lock() {
  lock_file=$1
  ! has_flock || exec 9>>"$lock_file"
}

take_lock() {
  if has_flock; then
    flock 9
    return
  fi
  start_of $$
  waiter="$$ $started $here"
  until name_holder; do
    free_dead_lock
  done
}

free_lock() {
  if has_flock; then exec 9>&-; else rm -f "$lock_file.held"; fi
}

has_flock() {
  command -v flock >/dev/null 2>&1
}

# name_holder [FILE]: creates the file with its content in one step: an empty one would look like that of a dead holder. Some
# file systems have no hard links.
name_holder() {
  set -- "${1:-$lock_file.held}"
  { echo "$waiter" >"$lock_file.new.$$" && ln "$lock_file.new.$$" "$1"; } 2>/dev/null ||
    { [ ! -e "$1" ] && (set -C && echo "$waiter" >"$1") 2>/dev/null; }
  is_named=$?
  rm -f "$lock_file.new.$$"
  return "$is_named"
}

# Only one waiter at a time removes the file of a dead holder: a second one could remove that of the next holder.
free_dead_lock() {
  if name_holder "$lock_file.freeing"; then
    remove_dead "$lock_file.held"
    rm -f "$lock_file.freeing"
  else
    remove_dead "$lock_file.freeing"
  fi
}

# remove_dead FILE: removes it if its holder is dead at two looks: without hard links it is empty for a moment. The second look
# is at a copy, because a live holder may free the lock and take it again between two steps.
remove_dead() {
  first_holder=$(cat "$1" 2>/dev/null)
  was_there=$?
  sleep 1
  cp "$1" "$lock_file.look.$$" 2>/dev/null || return 0
  [ "$was_there" = 0 ] && is_dead "$lock_file.look.$$" && [ "$(cat "$lock_file.look.$$")" = "$first_holder" ] && rm -f "$1"
  rm -f "$lock_file.look.$$"
}
