# The end of a batch: its spool goes, and with it trees that are in no use. Runs after lib.sh, with $root, $spool,
# $max_trees and $max_kb set.

clean() {
  tries=0
  for loop in "$spool"/slots/*/loop; do
    while [ "$tries" -lt 250 ] && is_live "$loop"; do
      sleep 0.02
      tries=$((tries + 1))
    done
  done
  ! is_elsewhere || { echo "elsewhere $live_host" && echo "done" && return; }
  # Whoever asked may be gone, and the next client may be handing over: then this ends here, with a broken pipe.
  echo removing
  # What an earlier process of the same number left would take the spool in, beside what is in it.
  [ ! -e "$root/removing.$$" ] || discard "$root/removing.$$" || return 1
  # In one step, so that no process finds half of it. A slot that is still there has moved along, but begins jobs by the old path.
  [ ! -d "$spool" ] || mv "$spool" "$root/removing.$$" || return 1
  discard_all
  [ ! -L "$base/batches/${spool##*/}" ] || rm -f "$base/batches/${spool##*/}"
  prune
  echo "done"
}

# A slot or a job of another host is at work here, as far as is known.
is_elsewhere() {
  for trace in "$spool"/slots/*/loop "$spool"/slots/*/keeper "$spool"/slots/*/job; do
    is_live "$trace"
    [ $? != 2 ] || return 0
  done
  return 1
}

discard_all() {
  for aside in "$root"/removing.*; do
    [ "$aside" = "$root/removing.$$" ] || [ ! -d "$proc/${aside##*.}" ] || continue
    # A directory of another user can hold what this one may not remove. It disturbs no batch.
    [ ! -d "$aside" ] || discard "$aside" || [ "$aside" != "$root/removing.$$" ] || echo "left $aside"
  done
}

# Of files no mode is changed: other trees have them too.
discard() {
  rm -rf "$1" 2>/dev/null || { find "$1" -type d ! -perm -700 -exec chmod u+rwx {} \; && rm -rf "$1"; }
}

# The latest used first. Asked for all at once, du counts what trees share once, with the first of them.
prune() {
  # To weigh them takes long where they are large, and is of no use while none is old enough to go.
  [ -n "$(find "$root/trees" ! -path "$root/trees" -prune -mmin +10 2>/dev/null)" ] || return 0
  set --
  # shellcheck disable=SC2045 # names of ours have nothing in them that would break; others are left alone
  for tree in $(ls -t "$root/trees" 2>/dev/null); do
    case $tree in *[!0-9a-f]*) ;; *) set -- "$@" "$root/trees/$tree" ;; esac
  done
  [ $# -gt 0 ] || return 0
  count=0 sum_kb=0
  du -sk "$@" 2>/dev/null | while read -r kb tree; do
    count=$((count + 1)) sum_kb=$((sum_kb + kb))
    is_old "$tree" && ! is_named "$tree" || continue
    mv "$tree" "$root/removing.$$" && discard "$root/removing.$$" || return 0
    count=$((count - 1)) sum_kb=$((sum_kb - kb))
  done
}

# By some batch that is here.
is_named() {
  any_uses "${1##*/}" "$root"/batches/* "$base"/batches/*
}

# unstage TREE: it was sent in advance, and there is no room for jobs. Nothing of ours stays where nothing else is.
unstage() {
  [ ! -d "$1" ] || is_named "$1" || { mv "$1" "$root/removing.$$" && discard "$root/removing.$$"; } || return 1
  rmdir "$root/trees" "$root" 2>/dev/null
  echo "done"
}

# After a week, or beyond the limits; never within ten minutes, since somebody may be about to use it.
is_old() {
  if [ "$count" -gt "$max_trees" ] || [ "$sum_kb" -gt "$max_kb" ]; then
    [ -n "$(find "$1" -prune -mmin +10)" ]
  else
    [ -n "$(find "$1" -prune -mtime +7)" ]
  fi
}
