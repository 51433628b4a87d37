# Checks that the directories we use are ours alone. In a directory that every account can write, such as /tmp, another
# account could make .sshoal first, and we would run its scripts. Runs with $base, $root and $host set.

refuse() {
  echo "not safe: $1" >&2
  return 1
}

# A directory of ours, and not a link to one.
is_own() {
  [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]
}

# expect_own PATH…: each is a directory of ours, or does not exist.
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

# Links on the way to $root could change while we use it. From here on it goes by the directories they lead to now.
resolve_root() {
  [ "$root" != "$base" ] || return 0
  above=${root%/*} below=.sshoal
  until cd -P -- "$above/" 2>/dev/null; do below=${above##*/}/$below above=${above%/*}; done
  root=${PWD%/}/$below
  cd -- "$OLDPWD" || return 1
}

# Whether all that exists of $base, $root and $spool may be used. With scratch: a ~/.sshoal that may not is left alone.
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

# An account that may rename a directory above $root could put another one in its place. So a directory that every account
# can write must be sticky, and what we use in it must be ours or root's. One look by ls tells type and owner: between two
# tests, another account could replace what is its own.
check_above() {
  set -- / "$root"
  above=${root%/*}
  while [ -n "$above" ]; do
    set -- "$@" "$above"
    above=${above%/*}
  done
  while read -r field _ uid _; do [ "$field" != Uid: ] || break; done </proc/self/status
  # Each path begins with the one above it, so they come in this order. Some do not exist yet.
  # shellcheck disable=SC2012
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

# any_uses TREE BATCH…: one of these batches uses the tree. A batch may be a link to where another account has made a
# directory since.
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
  # shellcheck disable=SC2012
  ls -ld -- "$@" | while read -r mode _; do
    case $mode in drwx--[-S]--[-T]*) ;; *) exit 1 ;; esac
  done
}
