# Prints the note of the queue service of this account, if it runs on this computer: `found` and the note, `foreign` and its path, or
# `none`. Several computers can share a home, so the note has the name of this one. Each command that asks from elsewhere waits for
# this script, so it starts one program only.
case ${XDG_STATE_HOME-} in
  /*) above=$XDG_STATE_HOME ;;
  *) above=$HOME/.local/state ;;
esac
host=
if [ -r /proc/sys/kernel/hostname ]; then IFS= read -r host </proc/sys/kernel/hostname; fi
case $host in
  '' | *[!A-Za-z0-9_.-]*) host=$(uname -n | tr -c 'A-Za-z0-9_.\n-' '[_*]') ;;
esac
note=$above/sshoal/service@$host.json

# Only its owner can read or write it.
is_private() {
  case $(ls -ld "$1") in
    -??[-x]------*) ;;
    *) return 1 ;;
  esac
}

if [ ! -e "$note" ]; then
  echo none
# Another account must not be able to lead us to a socket of its own.
elif [ -f "$note" ] && [ ! -L "$note" ] && [ -O "$note" ] && is_private "$note"; then
  # One line of JSON.
  IFS= read -r text <"$note"
  # So must it be with the socket. One in another directory of the same name would get what is sent.
  socket=${text#*\"socket\":\"}
  socket=${socket%%\"*}
  case $socket in
    # Escaped, or no path at all.
    *\\* | "$text") socket= ;;
  esac
  if [ -S "$socket" ] && [ -O "$socket" ]; then
    printf 'found\n%s\n' "$text"
  else
    echo none
  fi
else
  echo "foreign $note"
fi
