// Removes a batch's spool once nothing in it is needed, and trees that nobody has used for a week.

import type { Session } from "../transport/session.js";
import { ask } from "./ask.js";
import { type Place, prelude } from "./layout.js";
import { runtimeFile } from "./runtime-files.js";

export async function clean(session: Session, place: Place, signal: AbortSignal): Promise<void> {
  await ask(session, {
    doing: "cleaning up",
    script: `${prelude(place)}
${runtimeFile("lib.sh")}
clean() {
  tries=0
  for loop in "$spool"/slots/*/loop; do
    while [ "$tries" -lt 50 ] && is_live "$loop"; do
      sleep 0.1
      tries=$((tries + 1))
    done
  done
  # Whoever asked may be gone, and the next client may be handing over: then this ends here, with a broken pipe.
  echo removing
  # In one step, so that nobody finds half of it.
  [ ! -d "$spool" ] || mv "$spool" "$root/removing.$$" || return 1
  for aside in "$root"/removing.*; do
    [ "$aside" = "$root/removing.$$" ] || [ ! -d "$proc/\${aside##*.}" ] || continue
    [ ! -d "$aside" ] || rm -rf "$aside" 2>/dev/null || { chmod -R u+rwx "$aside" && rm -rf "$aside"; } || return 1
  done
  [ ! -L "$base/batches/\${spool##*/}" ] || rm -f "$base/batches/\${spool##*/}"
  find "$root/trees" -mindepth 1 -maxdepth 1 -type d -mtime +7 2>/dev/null | while read -r tree; do
    grep -qsF "\${tree##*/}" "$base"/batches/*/trees || { chmod -R u+rwx "$tree"; rm -rf "$tree"; }
  done
  echo done
}
clean </dev/null
`,
    signal,
  });
}
