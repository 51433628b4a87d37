// Waits until a client in the background has begun its batch, or has ended, and then for as long as the call asks for.

import { setTimeout as pause } from "node:timers/promises";
import { ExitCode, UserError } from "../../errors.js";
import type { BackgroundClient } from "../call/background-clients.js";
import type { Row } from "../call/own-command.js";
import type { Answer, Call } from "../call/tool.js";
import { plainWords } from "./job-fields.js";
import { statusOf } from "./status-tool.js";

interface Follow {
  readonly client: BackgroundClient;
  readonly call: Call;
  readonly waitSeconds: number | undefined;
  /** What to show the status of, after the wait. */
  readonly words: readonly string[];
}

/** A call succeeds even if jobs fail. Bad input and bugs are errors of the call. */
const NO_BATCH = new Set<number | null>([ExitCode.BadInput, ExitCode.Bug]);
/** How long a call waits for the first machine, whatever it asks for. */
const FIRST_MACHINE_MS = 5000;

/** `started`: the event run-started; null: the client ended without one. Throws UserError with what it reported. */
export async function awaitBatch(order: Follow): Promise<Answer & { readonly started: Row | null }> {
  const { client, call, waitSeconds = 0, words } = order;
  const started = await client.begun;
  await within(FIRST_MACHINE_MS, client.underWay, call.signal);
  if (started !== null && waitSeconds > 0) await waitForEnd(order, started);
  const exitCode = client.hasEnded ? await client.ended : null;
  if (client.hasEnded && client.error !== null && (started === null || NO_BATCH.has(exitCode)))
    throw client.error;
  if (exitCode === ExitCode.NoMachine) throw noMachine(client);
  if (started === null || waitSeconds === 0) return { started, client: client.report() };
  const status = await statusOf(
    { directory: client.directory, words: plainWords(words), waitSeconds: 0 },
    { ...call, progress: () => {} },
  );
  return { started, client: client.report(), status };
}

function noMachine(client: BackgroundClient): UserError {
  const failed = client.news.filter(({ kind }) => kind === "machine-failed");
  const lines = failed.map(({ machine, reason }) => `${machine}: ${reason}`);
  const [hint] = failed.flatMap((event) => (typeof event.hint === "string" ? [event.hint] : []));
  return new UserError(["no usable machine", ...lines].join("\n"), {
    hint: hint ?? "probe with the same needs; gpus: 0 if the jobs need no GPU; then the same call again",
    exitCode: ExitCode.NoMachine,
  });
}

async function waitForEnd({ client, call, waitSeconds = 0 }: Follow, started: Row): Promise<void> {
  const all = Array.isArray(started.jobs) ? started.jobs.length : 0;
  client.onJobEnd = (count) => call.progress(count, all);
  await within(waitSeconds * 1000, client.ended, call.signal);
  client.onJobEnd = () => {};
}

async function within(ms: number, what: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const waiting = new AbortController();
  const either = AbortSignal.any([signal, waiting.signal]);
  await Promise.race([what, pause(ms, undefined, { signal: either }).catch(() => {})]);
  waiting.abort();
}
