// Reads a job's output directly from its machine, if no client brings it home.

import { pause } from "../../fleet/retrying.js";
import type { Place } from "../../remote/engine/layout.js";
import { RemoteError } from "../../remote/engine/remote-error.js";
import { Control } from "../../remote/spool/control.js";
import type { OutputPiece } from "../../remote/spool/control-stream.js";
import { follow } from "../../remote/spool/follow.js";
import { freshOutput } from "../../remote/spool/fresh-output.js";
import { readLog } from "../../remote/spool/read-log.js";
import type { SpoolEvent } from "../../remote/spool/spool-event.js";
import type { Session } from "../../transport/session.js";
import { advance, type ShownStream } from "./output-file.js";

export interface RemoteOutput {
  readonly place: Place;
  /** Of the attempt. */
  readonly key: string;
  readonly streams: readonly ShownStream[];
  /** Continue until the job has ended, with all streams at the same time; else one after the other. */
  readonly follows: boolean;
  /** Called once if the job has not begun yet. */
  readonly onWaiting: () => void;
}

const POLL_MS = 300;

/**
 * "shown": everything, to its end if followed. "freed": the results were collected in the meantime, and have the rest.
 * "gone": the machine has nothing of the batch.
 */
export async function copyFromMachine(
  session: Session,
  output: RemoteOutput,
  signal: AbortSignal,
): Promise<"shown" | "freed" | "gone"> {
  const log = await readLog(session, output.place, signal);
  if (log === null) return "gone";
  const progress: Progress = { hasBegun: false, hasEnded: false, isFreed: false };
  for (const event of log) note(progress, event, output.key);
  if (!progress.hasBegun) output.onWaiting();
  const stop = output.follows ? watch(session, output, progress) : () => {};
  const control = await Control.open(session, output.place);
  try {
    const together = output.follows ? [output.streams] : output.streams.map((each) => [each]);
    for (const streams of together) await copyStreams(control, { ...output, streams }, progress, signal);
    return progress.isFreed ? "freed" : "shown";
  } finally {
    stop();
    control.close();
  }
}

async function copyStreams(
  control: Control,
  output: RemoteOutput,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const isLast = progress.hasEnded || !output.follows;
    const isNew = await readOnce(control, output, isLast);
    if (!isNew) for (const { sink } of output.streams) await sink.settle();
    if (!isNew && isLast) return;
    if (!isNew) await pause(POLL_MS, signal);
    if (progress.trouble !== undefined) throw progress.trouble;
  }
}

interface Progress {
  hasBegun: boolean;
  hasEnded: boolean;
  isFreed: boolean;
  trouble?: Error;
}

function note(progress: Progress, event: SpoolEvent, key: string): void {
  if (!("key" in event) || event.key !== key) return;
  progress.hasBegun = true;
  if (event.kind === "ended") progress.hasEnded = true;
  if (event.kind === "freed") progress.isFreed = true;
}

/** Returns a function that stops it. */
function watch(session: Session, { place, key }: RemoteOutput, progress: Progress): () => void {
  const stopping = new AbortController();
  const onEvent = (event: SpoolEvent) => note(progress, event, key);
  follow(session, { place, known: new Map(), onEvent, signal: stopping.signal }).then(
    () => {
      progress.trouble = new RemoteError("its event logs can no longer be followed");
    },
    (error: Error) => {
      progress.trouble = error;
    },
  );
  return () => stopping.abort();
}

/** False: nothing was new. Shown output stays when the job empties its output; new output follows. */
async function readOnce(control: Control, { key, streams }: RemoteOutput, surely: boolean): Promise<boolean> {
  const replaced = new Set<ShownStream>();
  let isNew = false;
  const onOutput = async (piece: OutputPiece) => {
    const shown = streams.find(({ stream }) => stream === piece.stream);
    if (shown === undefined || replaced.has(shown)) return;
    const { cursor, sink } = shown;
    const fresh = freshOutput(piece, cursor.offset - cursor.kept, cursor.recent);
    if (fresh === null) replaced.add(shown);
    if (fresh === null || fresh.length === 0) return;
    await sink.write(fresh);
    advance(cursor, fresh);
    isNew = true;
  };
  const positions = streams.map(({ stream, cursor }) => ({
    key,
    stream,
    offset: cursor.offset - cursor.kept,
  }));
  const { cut } = await control.readOutput(positions, onOutput, surely);
  for (const { stream } of cut) for (const shown of streams) if (shown.stream === stream) replaced.add(shown);
  for (const { cursor } of replaced) cursor.kept = cursor.offset;
  return isNew || replaced.size > 0;
}
