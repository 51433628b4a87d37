# Reads a machine's resources: prints raw facts, one a line behind $nonce; whoever asked does the arithmetic.
# Given: $nonce; where /proc and /sys are ($proc, $sys); how long the GPU tools may take ($gpu_seconds) and how far
# apart the two looks at the cores are at least ($apart, in hundredths of a second); as "$@" the roots below which
# this user's batches/*/slots/*/claim are.
# POSIX sh, builtins where a loop would fork; one section that fails spoils that section only.

. ./probe/cpu-and-memory.sh
. ./claim/read-claim.sh
. ./probe/claims.sh
. ./probe/gpus.sh

probe() {
  LC_ALL=C
  export LC_ALL
  # Whatever was printed before may have left its line open.
  echo
  tell_cpu_use
  begun_at=$now
  tell_host
  tell_logout
  tell_memory
  tell_claims "$@"
  tell_gpus
  sleep_the_rest
  tell_cpu_use
  say 'done'
}

say() {
  printf '%s %s\n' "$nonce" "$*"
}

# line_of FILE: sets $line to its first line, empty when it cannot be read.
line_of() {
  line=
  [ -r "$1" ] && { IFS= read -r line <"$1"; } 2>/dev/null
  [ -n "$line" ]
}

tell_host() {
  line_of "$proc/sys/kernel/hostname" || line=$(uname -n)
  say hostname "$line"
  hostname=$line
  line_of "$proc/sys/kernel/random/boot_id" && say identity "$line $hostname $HOME"
  command -v bash >/dev/null 2>&1 || say no-bash
  [ -r "$proc/self/status" ] || return
  while read -r key value; do
    [ "$key" = Cpus_allowed_list: ] && say allowed "$value"
  done <"$proc/self/status"
}

# By the functions of logout.sh.
tell_logout() {
  find_logout
  [ "$at_logout" = survive ] || say logout "$at_logout"
}

# Or some tool might eat what follows the script on stdin.
probe "$@" </dev/null
