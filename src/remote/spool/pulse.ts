// Whether anything goes on in a spool: for a client that only waits, and leaves everything as it is.

import { isAttemptKey } from "../../model/attempt-key.js";
import { quote } from "../../transport/quote.js";
import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { wordsAfter } from "../engine/words-after.js";
import { runtimeFile } from "../runtime-files.js";
import { parseLogs } from "./follow.js";

export interface Pulse {
  readonly logs: readonly string[];
  /** Nothing that takes jobs or runs one lives there: nothing will happen before a client comes. */
  readonly isStill: boolean;
  /** Attempts that no slot will begin: they never came, or a client took them back. */
  readonly missing: readonly string[];
}

/** With more of them, the script would take long to be read on the machine. */
const MOST_KEYS = 1000;

/**
 * `sent`: keys of attempts that may not have arrived; null: no look at jobs, of which there may be many. Resolves with null where
 * there is no spool of this batch.
 */
export async function takePulse(
  session: Session,
  place: Place,
  sent: readonly string[] | null,
  signal: AbortSignal,
): Promise<Pulse | null> {
  const keys = (sent ?? []).slice(0, MOST_KEYS).map(quote).join(" ");
  const script = `${prelude(place)}
[ -e "$spool/trees" ] && cd "$spool" || { echo done && exit; }
${runtimeFile("lib.sh")}
${runtimeFile("logs.sh")}
${runtimeFile("pulse.sh")}
{ pulse ${sent === null ? "" : `&& returned; absent ${keys}`}; } </dev/null
echo done
`;
  return parsePulse(await ask(session, { doing: "looking at the batch", script, signal }));
}

export function parsePulse(lines: readonly string[]): Pulse | null {
  const logs = lines.find((line) => /^logs\b/.test(line));
  if (logs === undefined) return null;
  return {
    logs: parseLogs(logs),
    isStill: wordsAfter("alive", lines)[0] === "0",
    missing: [...wordsAfter("absent", lines), ...wordsAfter("taken", lines)].filter(isAttemptKey),
  };
}
