// Counts how many scripts can run on one connection at once (sshd's MaxSessions), by trying.

import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Running, Session } from "../../transport/session.js";

/** More than a batch ever needs at once. */
const TRIED_SESSIONS = 5;
/** A refused session is requested again for ten seconds before it is an error. */
const WITHIN_MS = 15_000;

export async function countSessions(session: Session): Promise<number> {
  const timer = new AbortController();
  const late = sleep(WITHIN_MS, false, { signal: timer.signal }).catch(() => false);
  const opening = Array.from({ length: TRIED_SESSIONS }, () => session.exec("echo on; read -r _"));
  try {
    const opened = await Promise.all(opening.map((each) => Promise.race([hasBegun(each), late])));
    return opened.filter(Boolean).length;
  } finally {
    timer.abort();
    for (const each of opening) each.then(end, () => {});
  }
}

async function hasBegun(opening: Promise<Running>): Promise<boolean> {
  const running = await opening.catch((error: unknown) => {
    // A refusal by the machine carries a hint; any other error is our bug.
    if (error instanceof Error && "hint" in error) return null;
    throw error;
  });
  if (running === null) return false;
  running.stderr.resume();
  return Promise.race([
    once(running.stdout, "data").then(() => true),
    once(running.stdout, "close").then(() => false),
  ]);
}

function end(running: Running): void {
  running.stdin.end();
  running.stdout.resume();
  running.stderr.resume();
}
