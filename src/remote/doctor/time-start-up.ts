// Measures how long the login shell and its start-up files take before every script, and what they print.

import { setTimeout as sleep } from "node:timers/promises";
import type { StartUp } from "../../model/examination.js";
import type { Session } from "../../transport/session.js";
import { gatherTail } from "../engine/gather-tail.js";
import { RemoteError } from "../engine/remote-error.js";

const WITHIN_MS = 60_000;

/** Times a script that does nothing. Throws RemoteError if not even its first line runs. */
export async function timeStartUp(session: Session, withinMs = WITHIN_MS): Promise<StartUp> {
  const askedAt = performance.now();
  const running = await session.exec(":");
  running.stdin.end();
  running.stdout.resume();
  const timer = new AbortController();
  const late = sleep(withinMs, null, { signal: timer.signal }).catch(() => null);
  const stderr = await Promise.race([gatherTail(running.stderr), late]);
  timer.abort();
  const noise = running.noise ?? "";
  if (stderr !== null) return { tookMs: performance.now() - askedAt, noise: `${noise}\n${stderr}`.trim() };
  running.close();
  throw new RemoteError(
    `its login shell ran nothing within ${withinMs / 1000} s`,
    "check its start-up files for a command that hangs, and whether its file servers are reachable",
  );
}
