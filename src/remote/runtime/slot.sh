# The slot loop: sh slot.sh BATCH_DIR SLOT [revived]. Takes the next job, runs it, writes how it ended, takes the next, until
# none is left. It needs no client: all it knows is in files, and all it does is written to files.

slot=$2 is_revived=${3-}
cd "$1" || exit 1
root=${1%/batches/*}
. ./own.sh
. ./lib.sh
. ./settings
mine=slots/$slot
. "./$mine/env"
read -r need <"$mine/need"
read -r need_memory _ need_gpu_memory _ need_gpu need_machine need_cards <"$mine/need"
spool=$PWD
# No process has that number.
nobody=2147483647
shell='sh'
! command -v bash >/dev/null || shell=bash
looked_at='' checked_at='' said='' untold='' named='' find_tells='' has_room=''

# To their jobs too, as in the background of any script. begin.sh relies on it: bash has its own ways with SIGINT.
trap '' INT QUIT

. ./slot/loop.sh
. ./slot/recovery.sh
. ./slot/claim-room.sh
. ./slot/wait.sh
. ./slot/keeper.sh
. ./slot/work-copy.sh
. ./slot/command.sh
. ./slot/time-limit.sh
. ./slot/leftovers.sh
. ./slot/results.sh
. ./slot/events.sh
. ./slot/full-disk.sh

main() {
  until with_lock "$lock" become_the_loop; do
    # On a full disk it could not be written who we are: another loop could come, and two would work here.
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
[ ! -e "$mine/room" ] || . ./kinds.sh
main
