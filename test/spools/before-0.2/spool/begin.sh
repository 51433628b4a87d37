# Read by a job's own shell before its line: writes down who runs it, and in the end how it ended, should the slot be killed.

# shellcheck disable=SC2153
sshoal_slot=$SSHOAL_SLOT_DIR sshoal_attempt=$SSHOAL_ATTEMPT
sshoal_signals=
# A bash that a signal ends runs its EXIT trap first, with the code of the command before: a killed job would seem to have
# succeeded. For that, setting the trap makes bash catch every signal without a trap. Where one has a trap that is removed
# afterwards, the kernel ends bash at once, and no code is written.
[ -z "${BASH_VERSION-}" ] || sshoal_signals='HUP ILL TRAP ABRT FPE BUS SEGV SYS PIPE ALRM TERM XCPU XFSZ VTALRM USR1 USR2'
# shellcheck disable=SC2086
[ -z "$sshoal_signals" ] || trap : $sshoal_signals
trap 'echo "$sshoal_attempt $?" 2>/dev/null >"$sshoal_slot/code"' EXIT
# shellcheck disable=SC2086
[ -z "$sshoal_signals" ] || trap - $sshoal_signals
sshoal_key=${sshoal_attempt##*/}
sshoal_key=${sshoal_key%.}
# A shell's name holds no blanks: of its stat the 22nd word is the start time, the 34th which signals it catches.
read -r sshoal_pid _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ sshoal_start _ _ _ _ _ _ _ _ _ _ _ sshoal_caught _ </proc/self/stat
# A shell that still catches a signal that could end it writes no code.
[ $((${sshoal_caught:-1} & 0x43807eff)) = 0 ] || trap - EXIT
# On a full disk it runs all the same.
echo "$sshoal_pid $sshoal_start $SSHOAL_BOOT $sshoal_key" 2>/dev/null >"$sshoal_slot/job"
# Who finds the keeper gone, and us not written down yet, takes the job for lost: then it must not run.
kill -0 "$SSHOAL_KEEPER" 2>/dev/null || { trap - EXIT && exit 1; }
unset SSHOAL_SLOT_DIR SSHOAL_BOOT SSHOAL_KEEPER sshoal_pid sshoal_start sshoal_key sshoal_signals sshoal_caught
