# The slot loop: sh slot.sh BATCH_DIR SLOT [revived]. Takes the next job, runs it, writes how it ended, takes the next, until
# none is left. It needs no client: all it knows is in files, and all it does is written to files.

# All variables that functions of several files share are set here. Others are used in one file only, or hold the answer of a
# function, whose comment names them.

# The slot: its number, its directory in the spool, and the directory that all spools and trees are in.
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
# The environment of all jobs, and check_cards: the cards whose free memory is looked at before each job.
. "./$mine/env"
# What a job of this slot needs: the text to claim, and its words (read_need).
need='' need_memory='' need_gpu_memory='' need_gpu='' need_machine='' need_cards=''
shell='sh'
! command -v bash >/dev/null || shell=bash
# A pid that no process has.
nobody=2147483647

# The job at hand (choose_job): its directory, its key, and the mark of its processes.
dir='' key='' attempt=''
# What the first line of its command says, and of which job that was read (name_tree).
tree='' tree_has_directories='' tree_is_large='' needs_own_shell='' named=''
# Its process, its watches, when it began (in hundredths of a second), and whether it was given back for lack of room.
job='' watchdog='' output_watch='' begun='' is_put_back=''
# Of the loop: whether it has nothing to recover, could not write who it is, and holds a claim.
is_new='' is_unwritten='' has_room=''
# Why there is no room, and the reason that was reported last.
reason='' said=''
# Of the keeper: its pid, its line in the file "keeper", its ancestors, and when it last looked at memory and cards.
keeper='' keeper_line='' ancestors='' looked_at='' checked_at=''
# What work/ is a copy of, as in the file "copied", and whether find can look for changes ("yes" or "no").
copied='' find_tells=''
# Lines for the event log that are not written yet.
untold=''

# Jobs ignore these signals too, like background processes of any script. begin.sh relies on it, because bash treats SIGINT
# differently.
trap '' INT QUIT

. ./slot/loop.sh
. ./slot/recovery.sh
. ./claim/read-claim.sh
. ./slot/claim-room.sh
. ./slot/wait.sh
. ./slot/keeper.sh
. ./slot/work-copy.sh
. ./slot/kept-dir.sh
. ./slot/command.sh
. ./slot/time-limit.sh
. ./slot/output-limit.sh
. ./slot/leftovers.sh
. ./slot/results.sh
. ./slot/events.sh
. ./slot/full-disk.sh

main() {
  until with_lock "$lock" become_the_loop; do
    # On a full disk the loop could not write who it is: another one could start, and two would work here.
    [ -n "$is_unwritten" ] && is_in_place || exit 0
    sleep 1
  done
  if [ -z "$is_new" ]; then
    recover
    with_lock "$lock" has_work || exit 0
  fi
  while true; do
    if [ -n "$has_room" ]; then
      have_it_kept
      said=
    else
      wait_for_room
    fi
    with_lock "$lock" has_work || exit 0
  done
}

[ -n "${plain_slots-}" ] || . ./fast.sh
read_need
[ ! -e "$mine/room" ] || . ./kinds.sh
main
