# Read by a job's own shell before its line: writes down who runs it, and in the end how it ended, should the slot be killed.

# shellcheck disable=SC2153
sshoal_slot=$SSHOAL_SLOT_DIR sshoal_attempt=$SSHOAL_ATTEMPT
trap 'echo "$sshoal_attempt $?" 2>/dev/null >"$sshoal_slot/code"' EXIT
sshoal_key=${sshoal_attempt##*/}
sshoal_key=${sshoal_key%.}
# A shell's name holds no blanks: of its stat the 22nd word is the start time.
read -r sshoal_pid _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ sshoal_start _ </proc/self/stat
# On a full disk it runs all the same.
echo "$sshoal_pid $sshoal_start $SSHOAL_BOOT $sshoal_key" 2>/dev/null >"$sshoal_slot/job"
# Who finds the keeper gone, and us not written down yet, takes the job for lost: then it must not run.
kill -0 "$SSHOAL_KEEPER" 2>/dev/null || { trap - EXIT && exit 1; }
unset SSHOAL_SLOT_DIR SSHOAL_BOOT SSHOAL_KEEPER sshoal_pid sshoal_start sshoal_key
