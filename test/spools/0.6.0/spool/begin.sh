
sshoal_slot=$SSHOAL_SLOT_DIR sshoal_attempt=$SSHOAL_ATTEMPT
sshoal_signals=
[ -z "${BASH_VERSION-}" ] || sshoal_signals='HUP ILL TRAP ABRT FPE BUS SEGV SYS PIPE ALRM TERM XCPU XFSZ VTALRM USR1 USR2'
[ -z "$sshoal_signals" ] || trap : $sshoal_signals
trap 'echo "$sshoal_attempt $?${sshoal_setup-}" 2>/dev/null >"$sshoal_slot/code"' EXIT
[ -z "$sshoal_signals" ] || trap - $sshoal_signals
sshoal_key=${sshoal_attempt##*/}
sshoal_key=${sshoal_key%.}
read -r sshoal_pid _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ sshoal_start _ _ _ _ _ _ _ _ _ _ _ sshoal_caught _ </proc/self/stat
[ $((${sshoal_caught:-1} & 0x43807eff)) = 0 ] || trap - EXIT
echo "$sshoal_pid $sshoal_start $SSHOAL_BOOT $sshoal_key" 2>/dev/null >"$sshoal_slot/job"
kill -0 "$SSHOAL_KEEPER" 2>/dev/null || { trap - EXIT && exit 1; }
unset SSHOAL_SLOT_DIR SSHOAL_BOOT SSHOAL_KEEPER sshoal_pid sshoal_start sshoal_key sshoal_signals sshoal_caught
