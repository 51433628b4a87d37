// The programs that a tortured machine finds first on its PATH: those that its jobs run, and tools that fail or are
// slow.

/** Tools that the runtime calls on a machine, and that a round can break. */
export const TOOLS = ["tar", "mv", "setsid", "mkdir", "rm", "cp"] as const;
export type Tool = (typeof TOOLS)[number];

/** How one call fails. "late": only after the tool has done its work. */
export const WAYS = ["fails", "fails-late", "kills-parent", "kills-parent-late"] as const;
export type Way = (typeof WAYS)[number];

/**
 * Jobs run `trial DEED [CODE]`. It notes its start and its end in the machine's own ledger: `start KEY UPTIME`, `done
 * KEY UPTIME`. A job's own shell can also read it: `. trial DEED`.
 */
export const TRIAL = `#!/bin/sh
key=\${SSHOAL_ATTEMPT##*/}
key=\${key%.}
note() {
  read -r up _ </proc/uptime
  echo "$1 $key $up" >>"$HOME/ledger"
}
note start
# Exit codes that no deed asks for: the job's directory is not a clean copy.
[ ! -e made.txt ] || exit 98
IFS= read -r word <input.txt && [ "$word" = input ] || exit 99
case $1 in
  print)
    echo "out of $key"
    echo "err of $key" >&2
    ;;
  make) echo "made by $key" >made.txt ;;
  nap) sleep 0.3 ;;
  child)
    sleep 0.02 &
    wait $!
    ;;
  leave) sleep 300 & ;;
  late) sleep 60 ;;
esac
note done
exit "\${2:-0}"
`;

/**
 * Tokens are files in `~/faults/TOOL/`, named `NUMBER.WAY.WHERE`, and used in turn: each counts for one call. "pass"
 * lets a call succeed. WHERE is "hand-over" for calls of the hand-over only, or "anywhere". `~/faults/TOOL.slow` slows
 * all calls.
 */
export function standIn(tool: Tool, real: string): string {
  return `#!/bin/sh
real=${real}
way=
for token in "$HOME/faults/${tool}/"[0-9]*; do
  case $token in
    *'[0-9]*') break ;;
    *.hand-over) case "$*" in *batches/*/incoming.* | *slot.sh*) ;; *) continue ;; esac ;;
  esac
  # Of several calls at once, one removes the token.
  /bin/rm "$token" 2>/dev/null || continue
  way=\${token##*/}
  way=\${way#*.}
  echo "${tool} \${way%.*} $*" >>"$HOME/faults/used"
  break
done
work() {
  "$real" "$@"${tool === "setsid" ? " &" : ""}
}
case \${way%.*} in
  fails)
    echo "${tool}: made to fail" >&2
    exit 1
    ;;
  fails-late)
    work "$@"
    echo "${tool}: made to fail" >&2
    exit 1
    ;;
  kills-parent) kill -KILL "$PPID"; exit 1 ;;
  kills-parent-late)
    work "$@"
    kill -KILL "$PPID"
    exit 1
    ;;
esac
if [ -e "$HOME/faults/${tool}.slow" ]; then
${tool === "rm" ? SLOW_RM : "  sleep 0.2"}
fi
exec "$real" "$@"
`;
}

/** Each directory loses its first entry long before the rest. */
const SLOW_RM = `  for path; do
    case $path in -*) continue ;; esac
    [ -d "$path" ] && [ ! -h "$path" ] || continue
    for entry in "$path"/*; do
      "$real" -rf "$entry"
      break
    done
    sleep 0.005
  done
  sleep 0.2`;
