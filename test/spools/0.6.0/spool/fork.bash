
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
  for device in $devices; do export "${device?}"; done
  unset device devices
  if [ "$place" = @ ]; then cd "$in_place" || exit; else cd "$SSHOAL_RESULTS" || exit; fi
  . "$spool/jobs/$key/command"
}

echo "ready $$"
while read -r key place SSHOAL_KEEPER devices; do
  set -m
  sshoal_run </dev/null >>"jobs/$key/out" 2>>"jobs/$key/err" &
  set +m
  wait $!
  echo "$key $? $!"
done
