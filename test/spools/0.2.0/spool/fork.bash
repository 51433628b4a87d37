# Runs jobs that need no shell of their own: bash -p fork.bash SPOOL SLOT. Prints "ready PID" first. Then each line of stdin is
# "KEY PLACE KEEPER", and is answered by "KEY CODE PID" when the job has ended. The job's shell is a fork of this bash, which takes less
# time than to start another one.

# Because of -p, this bash ignores what the environment tells every bash, such as functions and a file to read first. A shell of a
# job's own would not, so all jobs get one.
while IFS= read -r -d '' variable; do
  case $variable in BASH_* | BASHOPTS=* | SHELLOPTS=* | GLOBIGNORE=* | POSIXLY_CORRECT=*) exit 1 ;; esac
done </proc/self/environ

cd "$1" || exit
spool=$1 slot=$2
. ./settings
umask "${login_umask:-077}"
unset LC_ALL
[ -z "${login_locale-}" ] || export LC_ALL="$login_locale"
read -r SSHOAL_BOOT </proc/sys/kernel/random/boot_id
read -r variable </proc/sys/kernel/hostname
SSHOAL_BOOT=$SSHOAL_BOOT@$variable
unset variable
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
  # With -m a fork leads a group of its own. Not while waiting: with -m, wait returns for a job that is only stopped.
  set -m
  sshoal_run </dev/null >>"jobs/$key/out" 2>>"jobs/$key/err" &
  set +m
  wait $!
  echo "$key $? $!"
done
