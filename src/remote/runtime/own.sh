# Checks that only this account can change the directories that sshoal uses. In a directory that every account can
# write, such as /tmp, another account could make .sshoal first, and sshoal would run its scripts. Runs with $base,
# $root and $host set.

refuse() {
  echo "not safe: $1" >&2
  return 1
}

# True for a directory of this account that is not a link.
is_own() {
  [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]
}

# expect_own PATH…: each must be a directory of this account, or not exist.
expect_own() {
  for own; do
    if is_own "$own" || { [ ! -e "$own" ] && [ ! -L "$own" ]; }; then
      continue
    elif [ -L "$own" ]; then
      refuse "$own is a symbolic link"
    elif [ -O "$own" ]; then
      refuse "$own is not a directory"
    else
      refuse "$own belongs to another account"
    fi
    return 1
  done
}

# Links on the way to $root could change while it is used. So from here on $root is the real path.
resolve_root() {
  [ "$root" != "$base" ] || return 0
  above=${root%/*} below=.sshoal
  until cd -P -- "$above/" 2>/dev/null; do below=${above##*/}/$below above=${above%/*}; done
  root=${PWD%/}/$below
  cd -- "$OLDPWD" || return 1
}

# True if $base, $root and $spool are safe as far as they exist. With scratch:, an unsafe ~/.sshoal is not used.
check_own() {
  if [ "$root" != "$base" ]; then
    check_above || return 1
    expect_own "$base" "$base/batches" 2>/dev/null || base=$root
  fi
  expect_own "$base" "$base/batches" "$root" "$root/batches" "$root/trees" "${spool-}" || return 1
  for own in "$base/lock@$host" "$base/lock@$host.held"; do
    [ ! -e "$own" ] && [ ! -L "$own" ] || { [ -f "$own" ] && [ ! -L "$own" ] && [ -O "$own" ]; } ||
      refuse "$own is not a file of ours" || return 1
  done
}

# An account that may rename a directory above $root could put another one in its place. So a directory that every
# account can write must be sticky, and what sshoal uses in it must belong to this account or root. One call of ls shows
# type and owner: between two tests, another account could replace its own directory.
check_above() {
  set -- / "$root"
  above=${root%/*}
  while [ -n "$above" ]; do
    set -- "$@" "$above"
    above=${above%/*}
  done
  while read -r field _ uid _; do [ "$field" != Uid: ] || break; done </proc/self/status
  # Each path begins with the one above it, so they come in this order. Some do not exist yet.
  ls -ldn -- "$@" 2>/dev/null | {
    is_shared=
    while read -r mode _ owner _ _ _ _ _ above; do
      case $mode in l*) refuse "$root is a symbolic link" || exit 1 ;; esac
      [ "$above" != "$root" ] || is_shared=yes
      [ -z "$is_shared" ] || [ "$owner" = "$uid" ] || { [ "$owner" = 0 ] && [ "$above" != "$root" ]; } ||
        refuse "$above belongs to another account" || exit 1
      is_shared=
      case $mode in
        ????????w[tT]*) is_shared=yes ;;
        ????????w*) [ "$above" = "$root" ] || refuse "every account can rename what is in $above" || exit 1 ;;
      esac
    done
  }
}

# any_uses TREE BATCH…: true if one of these batches uses the tree. A batch may be a link to a directory that another
# account has made since.
any_uses() {
  used=$1
  shift
  for own; do
    [ -O "$own" ] && [ -f "$own/trees" ] && grep -qsF -- "$used" "$own/trees" && return 0
  done
  return 1
}

# make_own DIR…: makes those that do not exist, each within one before it, and makes all of them private.
make_own() {
  [ -d "${root%/*}/" ] || mkdir -p -- "${root%/*}" || return 1
  for own; do
    [ -d "$own" ] || mkdir -m 700 -- "$own" 2>/dev/null || [ -d "$own" ] || mkdir -m 700 -- "$own" || return 1
  done
  { [ "$root" = "$base" ] || check_above; } && expect_own "$@" || return 1
  are_private "$@" || { chmod 700 -- "$@" && are_private "$@"; } || refuse "$1 cannot be made private"
}

are_private() {
  ls -ld -- "$@" | while read -r mode _; do
    case $mode in drwx--[-S]--[-T]*) ;; *) exit 1 ;; esac
  done
}
