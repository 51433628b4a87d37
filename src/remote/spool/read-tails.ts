// The end of what jobs have printed so far, asked for once: for a line that shows how far each is, or why it failed.

import { quote } from "../../transport/quote.js";
import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { runtimeFile } from "../runtime-files.js";

/** Enough for the last line of a traceback. */
const TAIL_BYTES = 2048;

/** As it is on the machine, so unsafe to show. */
export interface Tail {
  readonly out: string;
  readonly err: string;
  /** The stream that was written to last. */
  readonly newer: "out" | "err";
}

/** By the keys of attempts; those that have printed nothing are left out. */
export async function readTails(
  session: Session,
  place: Place,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Tail>> {
  if (keys.length === 0) return new Map();
  const script = `${prelude(place)}
cd "$spool" 2>/dev/null || { echo done && exit; }
${runtimeFile("tails.sh")}
tails ${TAIL_BYTES} ${keys.map(quote).join(" ")} 2>/dev/null
echo done
`;
  return parseTails(await ask(session, { doing: "reading the output of jobs", script, signal }));
}

export function parseTails(lines: readonly string[]): Map<string, Tail> {
  const tails = new Map<string, Tail>();
  for (const line of lines) {
    const [, key, stream, text = ""] = /^(\S+) (out|err|newer) ([\s\S]*)$/.exec(line) ?? [];
    if (key === undefined) continue;
    const tail = tails.get(key) ?? { out: "", err: "", newer: "out" };
    if (stream === "newer") tails.set(key, { ...tail, newer: "err" });
    else if (stream === "out") tails.set(key, { ...tail, out: `${tail.out}${text}\n` });
    else tails.set(key, { ...tail, err: `${tail.err}${text}\n` });
  }
  return tails;
}
