# Runs jobs that need no shell of their own: bash -p fork.bash SPOOL SLOT. Each line of stdin is "KEY PLACE KEEPER", and answered
# by "KEY CODE PID" once the job has ended; the first word is "ready" and our pid. The job's shell is a fork of this one, which is there already: to start another
# takes longer than many a job.

# What the environment says to every bash, such as functions and a file to read first, is not said to this one, which is run
# with -p, but to those that jobs have of their own.
while IFS= read -r -d '' variable; do
  case $variable in BASH_* | BASHOPTS=* | SHELLOPTS=* | GLOBIGNORE=* | POSIXLY_CORRECT=*) exit 1 ;; esac
done </proc/self/environ

cd "$1" || exit
spool=$1 slot=$2
. ./settings
umask "${login_umask:-077}"
unset LC_ALL variable
[ -z "${login_locale-}" ] || export LC_ALL="$login_locale"
read -r SSHOAL_BOOT </proc/sys/kernel/random/boot_id
SSHOAL_SLOT_DIR=$spool/slots/$slot

sshoal_run() {
  export SSHOAL_ATTEMPT=$batch/$key. SSHOAL_RESULTS=$SSHOAL_SLOT_DIR/work
  if [ "$place" = @ ]; then
    SSHOAL_RESULTS=$spool/jobs/$key/work
    cd "$in_place" || exit
  else
    cd "$SSHOAL_RESULTS" || exit
  fi
  . "$spool/jobs/$key/command"
}

echo "ready $$"
while read -r key place SSHOAL_KEEPER; do
  # With -m a fork leads a group of its own. But nobody waits with -m: then a job that is only stopped would have ended, too.
  set -m
  sshoal_run </dev/null >>"jobs/$key/out" 2>>"jobs/$key/err" &
  set +m
  wait $!
  echo "$key $? $!"
done
