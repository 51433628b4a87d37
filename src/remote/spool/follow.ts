// Follows a spool's event logs from the known position of each. A first start, a later one and one after a lost
// connection work the same way.

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

/** Names of thousands of logs are shorter. */
const LONGEST_HEAD_BYTES = 1 << 20;

export interface Following {
  readonly place: Place;
  /** Lines that were already passed on and are skipped. New lines are added. */
  readonly known: KnownLogs;
  /** Called once, with the followed logs. A log that is created later is not among them. */
  readonly onLogs?: (names: readonly string[]) => void;
  readonly onEvent: (event: SpoolEvent) => void;
  /** The spool may not exist yet. Following ends without `onLogs` if it does not within some seconds. */
  readonly awaitsSpool?: boolean;
  readonly signal: AbortSignal;
}

/**
 * Resolves when the channel ended or the signal aborts, with the machine's reason; null: the connection was lost. Ends
 * at once if a log no longer has its known lines.
 */
export async function follow(session: Session, following: Following): Promise<string | null> {
  const { known, onEvent, onLogs, signal } = following;
  const running = await session.exec(followScript(following));
  const burst = new EventBurst(onEvent);
  const close = () => {
    // These lines count as known, so the next follower would skip them.
    burst.tell();
    running.close();
  };
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  const stderr = gatherTail(running.stderr);
  let head: Buffer = Buffer.alloc(0);
  let clock: MachineClock | null = null;
  let stream: LogStream | null = null;
  /** The machine is not trusted: without an end of the line, searching it again and again would stop the client. */
  const refuseLong = ({ length }: Buffer) => {
    if (length > LONGEST_HEAD_BYTES) close();
  };
  const take = (chunk: Buffer) => {
    // Lines that arrive after a new follower has begun are counted by that one.
    if (signal.aborted) return;
    if (stream !== null) {
      stream.take(chunk);
      return burst.noteEnd(stream.logs);
    }
    head = Buffer.concat([head, chunk]);
    const clockEnd = head.indexOf(10);
    if (clockEnd < 0) return refuseLong(head);
    clock ??= parseClock(head.toString("utf8", 0, clockEnd), Date.now());
    const logsEnd = head.indexOf(10, clockEnd + 1);
    if (logsEnd < 0) return refuseLong(head);
    const names = parseLogs(head.toString("utf8", clockEnd + 1, logsEnd));
    onLogs?.(names);
    burst.expect(names.length);
    stream = new LogStream(known, burst.add, clock);
    stream.take(head.subarray(logsEnd + 1));
    burst.noteEnd(stream.logs);
  };
  try {
    // Not `for await`, which costs more than handling an event.
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

/** Checked, because names from a machine become part of a script. */
const LOG_NAME = /^(?:events(?:\.[\w.-]+)?|slots\/[\w.-]+\/events)$/;

/** The name of the log that a slot writes. */
export function slotLog(slot: number): string {
  return `slots/${slot}/events`;
}

/**
 * One `tail` follows all logs and prints a header before each piece. First it prints all logs in turn, and `skip` drops
 * the known lines. `tail` would survive a closed channel, so a shell watches stdin and ends it. If `tail` ends, the
 * channel ends.
 */
function followScript({ place, known, awaitsSpool }: Following): string {
  const logs = [...known].filter(([name, { lines }]) => LOG_NAME.test(name) && lines > 0);
  const text = logs.map(([name, { lines, end }]) => `${name}=${lines} ${end}\n`).join("");
  return `${prelude(place)}
${runtimeFile("logs.sh")}
known=${quote(`\n${text}`)}
${runtimeFile("follow.sh")}
${awaitsSpool ? "await_spool\n" : ""}cd "$spool" || exit 1
follow
`;
}
