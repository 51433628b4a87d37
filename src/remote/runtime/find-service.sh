# Prints the note of the queue service of this account, if it runs on this computer: `found` and the note, `foreign` and its path, or
# `none`. Several computers can share a home, so the note has the name of this one.
case ${XDG_STATE_HOME-} in
  /*) above=$XDG_STATE_HOME ;;
  *) above=$HOME/.local/state ;;
esac
note=$above/sshoal/service@$(uname -n | tr -c 'A-Za-z0-9_.\n-' '[_*]').json

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
  # So must it be with the socket. One in another directory of the same name would get what is sent.
  socket=$(sed -n 's/.*"socket":"\([^"\\]*\)".*/\1/p' "$note")
  if [ -S "$socket" ] && [ -O "$socket" ]; then
    echo found
    cat "$note"
  else
    echo none
  fi
else
  echo "foreign $note"
fi
