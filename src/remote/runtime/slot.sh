# The slot loop: sh slot.sh BATCH_DIR SLOT [revived]. Takes the next job, runs it, writes how it ended, and repeats
# until no job is left. It needs no client: its input is in files, and everything it does is written to files.

# Sets all variables that functions of several files share. Other variables are used in one file only, or hold the
# result of a function, whose comment names them.

# The slot: its number, its directory in the spool, and the directory with all spools and trees.
slot=$2 mine=slots/$2 root=${1%/batches/*}
# Not empty if the control channel started this loop because a job has no end.
is_revived=${3-}
cd "$1" || exit 1
spool=$PWD
. ./own.sh
# boot_id, host, here, proc, base, lock.
. ./lib.sh
# batch, limit, copy_unchanged, in_place, plain_slots, login_umask, login_locale.
. ./settings
export SSHOAL_SLOT="$slot"
shell='sh'
! command -v bash >/dev/null || shell=bash
# A pid that no process has.
nobody=2147483647
newline='
'

# The current job (choose_job): its directory, its key, and the mark of its processes.
dir='' key='' attempt=''
# The facts in the first line of its command, and the job for which they were read (name_tree).
tree='' runs_in_place='' tree_has_directories='' tree_is_large='' needs_own_shell='' named=''
# Its process, its watches, when it began (in hundredths of a second), and whether it was given back for lack of room.
job='' watchdog='' output_watch='' begun='' is_put_back=''
# Of the loop: whether it has nothing to recover, could not write who it is, and leaves the waiting to another slot.
is_new='' is_unwritten='' is_leaving=''
# The reasons that were last reported, without amounts (strip_amounts).
said=''
# Of the keeper: its pid, its line in the file "keeper", and its ancestors.
keeper='' keeper_line='' ancestors=''
# What the line of its end has after the duration: " name=value …".
facts=''
# Which tree work/ is a copy of, as in the file "copied", and whether find can find changes ("yes" or "no").
copied='' find_tells=''
# Lines for the event log that are not written yet.
untold=''

# Jobs also ignore these signals, like background processes of any script. begin.sh relies on it, because bash treats
# SIGINT differently.
trap '' INT QUIT

. ./slot/loop.sh
. ./slot/recovery.sh
. ./cgroup/each-cgroup.sh
. ./slot/load.sh
. ./slot/free-memory.sh
. ./slot/measure-cards.sh
. ./slot/machine-lock.sh
. ./claim/read-claim.sh
. ./slot/claims.sh
. ./slot/other-claims.sh
. ./slot/dead-claims.sh
. ./slot/room.sh
. ./slot/given.sh
. ./slot/next-slot.sh
. ./slot/wait.sh
. ./slot/keeper.sh
. ./slot/work-copy.sh
. ./slot/kept-dir.sh
. ./slot/command.sh
. ./slot/time-limit.sh
. ./slot/output-limit.sh
. ./limit/try-limit.sh
. ./slot/memory-limit.sh
. ./slot/footprint.sh
. ./slot/leftovers.sh
. ./slot/results.sh
. ./slot/events.sh
. ./slot/full-disk.sh
. ./slot/failure.sh

main() {
  until with_lock "$lock" become_the_loop; do
    # On a full disk the loop could not write its pid. Another loop could start, and two would work in this slot.
    [ -n "$is_unwritten" ] && is_in_place || exit 0
    sleep 1
  done
  if [ -z "$is_new" ]; then
    recover
    with_lock "$lock" has_work || leave
  fi
  while true; do
    have_it_kept
    with_lock "$lock" has_work || leave
  done
}

leave() {
  wake_sampler
  exit 0
}

[ -n "${plain_slots-}" ] || . ./fast.sh
read_room
open_claim
main
