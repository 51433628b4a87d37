// Follows a spool's event logs from what is known of each: the first time, the tenth time and after a cut are the same.

import { finished } from "node:stream/promises";
import { quote } from "../../transport/quote.js";
import type { Session } from "../../transport/session.js";
import { gatherTail } from "../engine/gather-tail.js";
import { type Place, prelude } from "../engine/layout.js";
import { remoteErrorFrom } from "../engine/remote-error.js";
import { runtimeFile } from "../runtime-files.js";
import { EventBurst } from "./event-burst.js";
import { type KnownLogs, LogStream } from "./log-stream.js";
import { type MachineClock, parseClock } from "./machine-clock.js";
import type { SpoolEvent } from "./spool-event.js";

export interface Following {
  readonly place: Place;
  /** Lines that were told already, and are not told again. Those that come are added. */
  readonly known: KnownLogs;
  /** Called once, with the logs that are followed. One that is made later is not among them. */
  readonly onLogs?: (names: readonly string[]) => void;
  readonly onEvent: (event: SpoolEvent) => void;
  readonly signal: AbortSignal;
}

/**
 * Resolves when the channel ended or the signal came, with what the machine said of it; null: the link was lost. It ends at once
 * where a log no longer has the lines that are known of it.
 */
export async function follow(session: Session, following: Following): Promise<string | null> {
  const { place, known, onEvent, onLogs, signal } = following;
  const running = await session.exec(followScript(place, known));
  const burst = new EventBurst(onEvent);
  const close = () => {
    // These lines count as known: a new follower would not tell them.
    burst.tell();
    running.close();
  };
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  const stderr = gatherTail(running.stderr);
  let head: Buffer = Buffer.alloc(0);
  let clock: MachineClock | null = null;
  let stream: LogStream | null = null;
  const take = (chunk: Buffer) => {
    // What comes after a new follower has begun is that one's to count.
    if (signal.aborted) return;
    if (stream !== null) {
      stream.take(chunk);
      return burst.noteEnd(stream.logs);
    }
    head = Buffer.concat([head, chunk]);
    const clockEnd = head.indexOf(10);
    if (clockEnd < 0) return;
    clock ??= parseClock(head.toString("utf8", 0, clockEnd), Date.now());
    const logsEnd = head.indexOf(10, clockEnd + 1);
    if (logsEnd < 0) return;
    const names = parseLogs(head.toString("utf8", clockEnd + 1, logsEnd));
    onLogs?.(names);
    burst.expect(names.length);
    stream = new LogStream(known, burst.add, clock);
    stream.take(head.subarray(logsEnd + 1));
    burst.noteEnd(stream.logs);
  };
  try {
    // Not by `for await`, which costs more than an event.
    await finished(running.stdout.on("data", take), { writable: false });
    const end = await running.ended;
    return end.kind === "lost" ? null : remoteErrorFrom("following the event logs", await stderr).message;
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/** The words after "logs". */
export function parseLogs(line: string): string[] {
  return line.split(" ").slice(1);
}

/** They become part of a script, and come from a machine. */
const LOG_NAME = /^(?:events(?:\.[\w.-]+)?|slots\/[\w.-]+\/events)$/;

/**
 * One `tail` follows all logs: each has a header before what is new of it. It first prints all logs in turn, of which `skip`
 * leaves out the known lines. `tail` would outlive a closed channel: a shell sees stdin end, and ends it. Without `tail` the
 * channel ends.
 */
function followScript(place: Place, known: KnownLogs): string {
  const logs = [...known].filter(([name, { lines }]) => LOG_NAME.test(name) && lines > 0);
  const text = logs.map(([name, { lines, end }]) => `${name}=${lines} ${end}\n`).join("");
  return `${prelude(place)}
cd "$spool" || exit 1
${runtimeFile("logs.sh")}
known=${quote(`\n${text}`)}
${runtimeFile("follow.sh")}
follow
`;
}
