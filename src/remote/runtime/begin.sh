# Read by a job's own shell before its line: writes down who runs it, that it has started, and in the end how it ended, should
# the slot be killed.

# shellcheck disable=SC2153
sshoal_slot=$SSHOAL_SLOT_DIR sshoal_attempt=$SSHOAL_ATTEMPT
trap 'echo "$sshoal_attempt $?" 2>/dev/null >"$sshoal_slot/code"' EXIT
read -r sshoal_stat <"/proc/$$/stat"
# The second field may hold spaces and brackets; after the last ")" the 20th word is the start time.
# shellcheck disable=SC2086
set -- ${sshoal_stat##*) }
sshoal_key=${sshoal_attempt##*/}
sshoal_key=${sshoal_key%.}
# On a full disk it runs all the same.
{
  echo "$$ ${20} $SSHOAL_BOOT $sshoal_key" >"$sshoal_slot/job"
  printf 'started %s\n' "$sshoal_key ${sshoal_slot##*/}" >>"${sshoal_slot%/slots/*}/events"
} 2>/dev/null
set --
unset SSHOAL_SLOT_DIR SSHOAL_BOOT sshoal_stat sshoal_key
