# Reads a machine's resources. Prints raw facts, one per line after $nonce; the client does the arithmetic.
# Given: $nonce; where /proc and /sys are ($proc, $sys); how long the GPU tools may take ($gpu_seconds); the least time
# between the two readings of the cores ($apart, in hundredths of a second); whether the processes on every card are wanted
# ($details: yes), not only on cards that look used; as "$@" the roots of this user's batches/*/slots/*/claim.
# POSIX sh, with builtins where a loop would fork. A section that fails affects only that section.

. ./cgroup/each-cgroup.sh
. ./probe/cpu-and-memory.sh
. ./claim/read-claim.sh
. ./probe/spool-claims.sh
. ./probe/all-claims.sh
. ./probe/gpus.sh

probe() {
  LC_ALL=C
  export LC_ALL
  # Earlier output may have left an incomplete line.
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

# line_of FILE: sets $line to its first line, empty if it cannot be read.
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

# With the functions of logout.sh.
tell_logout() {
  find_logout
  [ "$at_logout" = survive ] || say logout "$at_logout"
}

# A tool might read the rest of the script from stdin.
probe "$@" </dev/null
