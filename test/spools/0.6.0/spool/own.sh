
refuse() {
  echo "not safe: $1" >&2
  return 1
}

is_own() {
  [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]
}

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

resolve_root() {
  [ "$root" != "$base" ] || return 0
  above=${root%/*} below=.sshoal
  until cd -P -- "$above/" 2>/dev/null; do below=${above##*/}/$below above=${above%/*}; done
  root=${PWD%/}/$below
  cd -- "$OLDPWD" || return 1
}

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

check_above() {
  set -- / "$root"
  above=${root%/*}
  while [ -n "$above" ]; do
    set -- "$@" "$above"
    above=${above%/*}
  done
  while read -r field _ uid _; do [ "$field" != Uid: ] || break; done </proc/self/status
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

any_uses() {
  used=$1
  shift
  for own; do
    [ -O "$own" ] && [ -f "$own/trees" ] && grep -qsF -- "$used" "$own/trees" && return 0
  done
  return 1
}

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
