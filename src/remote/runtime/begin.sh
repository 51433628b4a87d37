# The shell of a job reads this before the job's command. It writes the shell's pid to "job" and, when the shell ends,
# its exit code to "code", in case the keeper is killed.

sshoal_slot=$SSHOAL_SLOT_DIR sshoal_attempt=$SSHOAL_ATTEMPT
sshoal_signals=
# When a signal ends a bash, bash first runs its EXIT trap, with the code of the last command: a killed job would seem
# to have succeeded. An EXIT trap makes bash catch every signal that has no trap. So each signal gets a trap first,
# which is removed afterwards: then the kernel ends bash at once, and no code is written.
[ -z "${BASH_VERSION-}" ] || sshoal_signals='HUP ILL TRAP ABRT FPE BUS SEGV SYS PIPE ALRM TERM XCPU XFSZ VTALRM USR1 USR2'
# shellcheck disable=SC2086
[ -z "$sshoal_signals" ] || trap : $sshoal_signals
trap 'echo "$sshoal_attempt $?${sshoal_setup-}" 2>/dev/null >"$sshoal_slot/code"' EXIT
# shellcheck disable=SC2086
[ -z "$sshoal_signals" ] || trap - $sshoal_signals
sshoal_key=${sshoal_attempt##*/}
sshoal_key=${sshoal_key%.}
# A shell's name has no blanks. In its stat, the 22nd word is the start time, and the 34th shows which signals it
# catches.
read -r sshoal_pid _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ sshoal_start _ _ _ _ _ _ _ _ _ _ _ sshoal_caught _ </proc/self/stat
# A shell that still catches a signal that could end it writes no code.
[ $((${sshoal_caught:-1} & 0x43807eff)) = 0 ] || trap - EXIT
# If the disk is full, the job runs anyway.
echo "$sshoal_pid $sshoal_start $SSHOAL_BOOT $sshoal_key" 2>/dev/null >"$sshoal_slot/job"
# If the keeper is gone, another process may have looked for "job" before it was written, and reported the job as lost.
# Then the job must not run.
kill -0 "$SSHOAL_KEEPER" 2>/dev/null || { trap - EXIT && exit 1; }
unset SSHOAL_SLOT_DIR SSHOAL_BOOT SSHOAL_KEEPER sshoal_pid sshoal_start sshoal_key sshoal_signals sshoal_caught
