# Examines whether a machine is suitable for a batch. Prints raw facts, one per line after $nonce; the client judges
# them.
# Given, after own.sh and lib.sh: $nonce, $root (sshoal's files), $login_umask and $login_locale; the tools that
# sshoal's scripts call ($tools); the time limits for everything ($seconds) and for the setup alone ($setup_seconds);
# how long the survivor lives ($survivor_seconds; 0: no survivor); $job, a job's script that only runs its setup, empty
# if there is none; $tries_limit, empty unless a memory limit is to be tried.
# POSIX sh. Leaves only the survivor: all files are made in $trial, which is removed.

. ./limit/try-limit.sh
. ./doctor/neighbours.sh

doctor() {
  # Earlier output may have left an incomplete line.
  echo
  find_place
  trial=$place/.sshoal-doctor.$$
  trap 'rm -rf "$trial"' EXIT
  trap 'exit 1' HUP INT TERM PIPE
  watched tell_all
  rm -rf "$trial"
  say 'done'
}

say() {
  printf '%s %s\n' "$nonce" "$*"
}

# The step that is most likely to hang comes last, because everything after it would be lost.
tell_all() {
  tell_host
  tell_tools
  tell_environments
  tell_logout
  tell_limit
  start_survivor
  tell_neighbours
  tell_filesystems
  tell_setup
}

# watched COMMAND: a dead file server can make tools hang so that not even KILL ends them. So they write into a pipe
# beside a watchdog, and the reader of the pipe stops at the first word of either.
watched() {
  {
    # With exec: processes below would hold open the copies that a redirection of the braces makes.
    exec 2>/dev/null
    watchdog "$seconds" &
    echo "$nonce watchdog $!"
    { "$1" && echo "$nonce over"; } &
    echo "$nonce work $!"
  } | relay
}

watchdog() {
  # In this order, and with KILL: otherwise a quick command could leave the sleeper behind.
  trap 'kill -KILL $!; exit' TERM
  sleep "$1" &
  wait $! && echo "$nonce late"
}

relay() {
  while IFS= read -r line; do
    case $line in
      "$nonce watchdog "*) watchdog=${line##* } ;;
      "$nonce work "*) work=${line##* } ;;
      "$nonce late")
        kill -9 "$work" 2>/dev/null
        say late
        return
        ;;
      "$nonce over")
        kill "$watchdog" 2>/dev/null
        return
        ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
}

tell_host() {
  say at 'its name and clock'
  say system "$(uname -s)"
  say user "$(id -un)"
  say shell "$SHELL"
  say time "$(date +%s)"
  [ -z "${CUDA_DEVICE_ORDER-}" ] || say cuda-order "$CUDA_DEVICE_ORDER"
}

tell_tools() {
  say at 'its tools'
  for tool in $tools; do
    command -v "$tool" >/dev/null || say missing "$tool"
  done
  for manager in apt-get dnf yum zypper pacman apk; do
    command -v "$manager" >/dev/null && say packages "$manager" && break
  done
}

# Common places of programs that a setup calls, in case it does not find them.
tell_environments() {
  for dir in "$HOME"/miniconda3 "$HOME"/anaconda3 "$HOME"/miniforge3 "$HOME"/mambaforge /opt/conda /opt/miniconda3 \
    /opt/anaconda3 /opt/miniforge3; do
    [ -r "$dir/etc/profile.d/conda.sh" ] && say conda "$dir" && break
  done
  for file in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh; do
    [ -r "$file" ] && say modules "$file" && break
  done
}

# Asks systemd-logind. Without systemd, nothing kills processes at logout.
tell_logout() {
  command -v loginctl >/dev/null || return 0
  say at 'loginctl'
  for fact in $(in_time loginctl show-user -p KillUserProcesses) $(in_time loginctl show-user "$(id -un)" -p Linger); do
    say logind "$fact"
  done
  find_logout
  [ "$at_logout" != scope ] || in_scope=yes
}

tell_limit() {
  [ -n "$tries_limit" ] || return 0
  say at 'systemd-run'
  try_limit
  say memory-limit "${unlimited:-works}"
}

# Started as slots are. The client looks for it on its next connection. It ends by itself if no client does.
start_survivor() {
  [ "$survivor_seconds" != 0 ] && command -v setsid >/dev/null || return 0
  detached sleep "$survivor_seconds" </dev/null >/dev/null 2>&1 &
  survivor=$!
  start_of "$survivor" && say survivor "$survivor $started $boot_id"
}

# The directory for sshoal's files, or its nearest existing parent. If it exists but cannot be entered, it is still the
# one to examine, because sshoal would use it.
find_place() {
  place=$root
  until [ -e "$place" ] || [ -z "${place%/*}" ]; do place=${place%/*}; done
  [ -e "$place" ] || place=/
}

tell_filesystems() {
  say at "the file system of $HOME"
  say home-filesystem "$(filesystem_of "$HOME")"
  say at "the file system of $place"
  say place "$place"
  # Nothing is tried if another account could change the directory.
  said=$(check_own 2>&1) || { say unsafe "$said"; return; }
  say place-filesystem "$(filesystem_of "$place")"
  say free-kb "$(df -Pk "$place" | tail -n 1 | { read -r _ _ _ free _; echo "$free"; })"
  if said=$({ mkdir "$trial" && printf '#!/bin/sh\n' >"$trial/program" && chmod +x "$trial/program"; } 2>&1); then
    "$trial/program" || say noexec
  else
    say unwritable "$said"
  fi
}

# Some builds of busybox have no stat, or one without -f.
filesystem_of() {
  stat -f -c %T "$1" || df -PT "$1" | tail -n 1 | { read -r _ type _; echo "$type"; }
}

# Runs the setup as a slot does: with the same script, shell, umask and locale, but in an empty directory.
tell_setup() {
  [ -n "$job" ] && [ -d "$trial" ] && command -v setsid >/dev/null || return 0
  say at 'setup'
  mkdir "$trial/work" && printf '%s\n' "$job" >"$trial/command" || return
  shell=$(command -v bash || command -v sh)
  (cd "$trial/work" && as_at_login && exec setsid "$shell" ../command) </dev/null >"$trial/out" 2>"$trial/err" &
  pid=$!
  { watchdog "$setup_seconds" && { true >"$trial/late"; kill -KILL "-$pid" || kill -KILL "$pid"; }; } >/dev/null &
  dog=$!
  wait "$pid"
  code=$?
  kill "$dog"
  # Processes that the setup left running are ended, as after a job.
  kill -KILL "-$pid"
  if [ -e "$trial/late" ]; then say setup-late "$setup_seconds"; else say setup-code "$code"; fi
  sed -n "s/^$nonce /&setup-/p" "$trial/out"
  head -c 8192 "$trial/err" | sed "s/^/$nonce setup-said /"
}

as_at_login() {
  umask "${login_umask:-077}"
  unset LC_ALL
  [ -z "${login_locale-}" ] || export LC_ALL="$login_locale"
}

# A tool might read the rest of the script from stdin.
doctor </dev/null
