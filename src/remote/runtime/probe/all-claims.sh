# Prints the claims of all accounts, from their directories below $SSHOAL_CLAIMS or /tmp. docs/slot.md has the format. Other
# accounts can put anything there, and swap it at any moment: one reader per directory, which is killed after a while.

# tell_all_claims BASE…: the roots of this user's own spools, which name the leader of each job.
tell_all_claims() {
  claims_root=${SSHOAL_CLAIMS:-/tmp}
  for found in "$claims_root"/.sshoal-claims-[0-9]*; do break; done
  [ "$found" != "$claims_root/.sshoal-claims-[0-9]*" ] || return
  found=$(list_claim_dirs)
  whole_lines
  # shellcheck disable=SC2086
  found=$(read_claim_dirs $found)
  for told in $found; do
    split_words
    case $told in
      "claim-file "*) note_leader "${told#* }" "$@" ;;
      "claim-line "*' by '*) note_loop "${told#* }" ;;
    esac
    say "$told"
  done
  split_words
}

# From here on, an unquoted text becomes its lines.
whole_lines() {
  set -f
  IFS='
'
}

split_words() {
  set +f
  IFS=' 	
'
}

# `uid owner path` per directory. A file system that hangs is left after a while.
list_claim_dirs() {
  set -- find "$claims_root/" -maxdepth 1 -type d -name '.sshoal-claims-[0-9]*' -exec stat -c '%u %U %n' {} +
  ! has_timeout || set -- timeout -s KILL 3 "$@"
  "$@" 2>/dev/null
}

has_timeout() {
  command -v timeout >/dev/null 2>&1
}

# An account counts by directories with its own number only, so that no account can crowd out another. Without `timeout` only this
# account's directories are read, where no other account can put a file that blocks.
read_claim_dirs() {
  split_words
  dirs=0
  for dir; do
    uid=${dir%% *} name=${dir##*/} owner=${dir#* }
    owner=${owner%% *}
    # The system has no name for the account.
    [ "$owner" != UNKNOWN ] || owner=$uid
    case $name in ".sshoal-claims-$uid" | ".sshoal-claims-$uid".[0-9]) ;; *) continue ;; esac
    [ "$((dirs += 1))" -le 100 ] || break
    dir=$claims_root/$name own=0
    [ ! -O "$dir" ] || own=1
    set -- sh -c "$claim_reader" sh "$dir" "$uid/$dirs" "$own $owner" "$proc"
    if has_timeout; then
      timeout -s KILL 3 "$@" 2>/dev/null &
    elif [ "$own" = 1 ]; then
      "$@" 2>/dev/null
    fi
  done
  wait
}

# $1: the directory; $2: the beginning of its claims' ids; $3: whether it is of this account, and its owner; $4: where /proc is.
# A claim is alive while its file is locked. Prints at most 300 kB, a line at a time, because several readers share a pipe. The
# shell itself opens the files: some versions of `timeout` end only that process. Slots skip the same names (other-claims.sh).
claim_reader='
  id=$2 owner=$3 proc=$4 count=0 total=0
  has_flock() { command -v flock >/dev/null 2>&1; }
  is_locked() { ! flock -n 3 || { flock -u 3; return 1; }; }
  # The third word of "by".
  has_loop() {
    loop=${text##*"
by "} loop=${loop%%"
"*}
    [ -d "$proc/${loop##* }" ]
  }
  tell() {
    [ -f /proc/self/fd/3 ] && { ! has_flock || is_locked; } || return
    text=$(head -c 4097 <&3)
    [ "${#text}" -le 4096 ] && { has_flock || has_loop; } || return
    [ "$((total += ${#text}))" -le 300000 ] || exit
    count=$((count + 1)) lines=0
    printf "claim-file %s\n" "$id.$count $owner ${file#./}"
    for line in $text; do
      [ "${#line}" -le 2000 ] && [ "$((lines += 1))" -le 100 ] || break
      printf "claim-line %s\n" "$id.$count $line"
    done
  }
  cd -P -- "$1" || exit
  set -f
  IFS="
"
  for file in $(find . -maxdepth 1 -type f -size -9 -size +0 -name "*@*.*" ! -name ".*" ! -name "*[
 ]*" | head -n 1000); do
    [ -f "$file" ] && ! [ -L "$file" ] && { tell; } 3<"$file"
  done
'

# note_leader 'ID OWN OWNER NAME' BASE…: finds the leader of the job of an own claim, whose memory counts even if the loop is gone.
note_leader() {
  has_claims=1 key=${1%% *} name=${1##* }
  case $1 in "$key 1 "*) ;; *) return ;; esac
  shift
  for base; do
    slot=$base/batches/${name%.*}/slots/${name##*.}
    [ -O "$slot" ] && read_leader "$slot" && note_root lead "$session"
  done
}

# note_loop 'ID by BATCH JOB PID': the pid may be of another pid namespace, so the process must be of the claim's account.
note_loop() {
  key=${1%% *} loop=${1##* } uid=
  case $loop in '' | *[!0-9]*) return ;; esac
  { while read -r word value _; do
    [ "$word" != Uid: ] || { uid=$value && break; }
  done <"$proc/$loop/status"; } 2>/dev/null
  [ "$uid" != "${key%%/*}" ] || note_root loop "$loop"
}

note_root() {
  roots="$roots $key:$1:$2"
  say claim-root "$key $2"
}
