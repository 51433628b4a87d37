# Ends a batch: removes its spool, and trees that are not in use. Runs after lib.sh, with $root, $spool, $max_trees and
# $max_kb set.

clean() {
  tries=0
  for loop in "$spool"/slots/*/loop; do
    while [ "$tries" -lt 250 ] && is_live "$loop"; do
      sleep 0.02
      tries=$((tries + 1))
    done
  done
  ! is_elsewhere || { echo "elsewhere $live_host" && echo "done" && return; }
  # The client may be gone, and the next one may be handing over: then this script ends here, with a broken pipe.
  echo removing
  # If an earlier process with the same pid left this directory, mv would put the spool inside it.
  [ ! -e "$root/removing.$$" ] || discard "$root/removing.$$" || return 1
  # One rename, so that no process finds half of it. A slot that still runs moves along, but begins jobs by the old
  # path.
  [ ! -d "$spool" ] || mv "$spool" "$root/removing.$$" || return 1
  discard_all
  [ ! -L "$base/batches/${spool##*/}" ] || rm -f "$base/batches/${spool##*/}"
  drop_claims
  prune
  echo "done"
}

# The claims of its slots, and the directory for claims if no other batch has any.
drop_claims() {
  set --
  for claim in "${SSHOAL_CLAIMS:-/tmp}/.sshoal-claims-"*/"${spool##*/}".* "$base/claims@$host/${spool##*/}".*; do
    [ ! -O "$claim" ] || [ ! -O "${claim%/*}" ] || set -- "$@" "$claim"
  done
  [ $# = 0 ] || { rm -f "$@" && drop_shared "${1%/*}"; }
}

# drop_shared DIR: what slots of this account shared there, if none is left.
drop_shared() {
  for claim in "$1"/*; do [ ! -e "$claim" ] || return 0; done
  rm -f "$1"/.freed "$1"/.cards* && rmdir "$1" 2>/dev/null
  return 0
}

# True if, as far as this host knows, a slot or a job of another host works here.
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
    # A directory of another user can contain files that this user may not remove. It disturbs no batch.
    [ ! -d "$aside" ] || discard "$aside" || [ "$aside" != "$root/removing.$$" ] || echo "left $aside"
  done
}

# The modes of files stay, because other trees share the files.
discard() {
  rm -rf "$1" 2>/dev/null || { find "$1" -type d ! -perm -700 -exec chmod u+rwx {} \; && rm -rf "$1"; }
}

# The latest used first. du gets all of them in one call, so that it counts shared files once, with the first tree.
prune() {
  # Measuring large trees takes long, and is useless while none is old enough to be removed.
  [ -n "$(find "$root/trees" ! -path "$root/trees" -prune -mmin +10 2>/dev/null)" ] || return 0
  set --
  # Names of ours have nothing in them that the shell would split; others are left alone.
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

# True if a batch on this machine names the tree.
is_named() {
  any_uses "${1##*/}" "$root"/batches/* "$base"/batches/*
}

# unstage TREE: the tree was sent in advance, and there is no room for jobs. Removes it, and the directories above if
# they are empty.
unstage() {
  [ ! -d "$1" ] || is_named "$1" || { mv "$1" "$root/removing.$$" && discard "$root/removing.$$"; } || return 1
  rmdir "$root/trees" "$root" 2>/dev/null
  echo "done"
}

# True after a week, or beyond the limits; never within ten minutes, because a client may be about to use it.
is_old() {
  if [ "$count" -gt "$max_trees" ] || [ "$sum_kb" -gt "$max_kb" ]; then
    [ -n "$(find "$1" -prune -mmin +10)" ]
  else
    [ -n "$(find "$1" -prune -mtime +7)" ]
  fi
}
