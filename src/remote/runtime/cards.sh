# Asks the drivers of all cards, for slots: prints raw facts, one per line. cards.awk reads them.

# Processes are always asked for: whether others use a card decides who may.
nonce=:$$ gpu_seconds=10 proc=/proc sys=/sys details=yes

. ./probe/gpus.sh

say() {
  printf '%s\n' "$*"
}

# line_of FILE: sets $line to its first line, empty if it cannot be read.
line_of() {
  line=
  [ -r "$1" ] && { IFS= read -r line <"$1"; } 2>/dev/null
  [ -n "$line" ]
}

LC_ALL=C
export LC_ALL
tell_gpus </dev/null
