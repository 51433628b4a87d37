// Shows what a job has printed so far: from the local disk if a client brings it, else from its machine.

import { setTimeout as sleep } from "node:timers/promises";
import { ExitCode, UserError } from "../../errors.js";
import { dependencyFact } from "../../model/dependency.js";
import type { Job, JobId } from "../../model/job.js";
import { limitOfJob } from "../../model/output-limit.js";
import { phaseOf } from "../../model/standing.js";
import { keyOn } from "../../plan/run-state.js";
import { placeOf } from "../../remote/engine/layout.js";
import type { Results } from "../../run/home/results.js";
import type { Connector } from "../connector.js";
import { type BatchHere, loadBatch, readBatchHolder, resumeCommand } from "../find/batches-here.js";
import { reach, type Unreached } from "../machine/reach.js";
import { copyFromMachine } from "./machine-output.js";
import { type Cursor, copyBeyond, newCursor, rewind, type ShownStream } from "./output-file.js";

const POLL_MS = 300;
const RECONNECT_MS = 1500;

export interface OutputOrder {
  readonly job: Job;
  readonly stem: string;
  readonly results: Results;
  /** Shown one after the other, or together while the job is followed. */
  readonly streams: readonly Pick<ShownStream, "stream" | "sink">[];
  /** Until the job has ended. */
  readonly follows: boolean;
  readonly connect: Connector;
  readonly onNote: (message: string) => void;
}

interface Showing extends OutputOrder {
  readonly streams: readonly (ShownStream & { readonly path: string })[];
  /** The attempt that the cursors refer to. */
  attempt: number | null;
  wasReached: boolean;
  /** The connection was lost, and that has been reported. */
  isAway: boolean;
  /** So much of each stream can be read while the job runs; null: all. */
  readableBytes: number | null;
}

type Shown = "done" | "again" | Unreached;

/** Resolves with null when everything is shown, else with the machine that cannot be reached. Rejects as a sink does. */
export async function showOutput(order: OutputOrder): Promise<Unreached | null> {
  const showing: Showing = {
    ...order,
    streams: order.streams.map(({ stream, sink }) => {
      const cursor = newCursor();
      const settle = () => {
        explainLimit(showing, cursor);
        return sink.settle();
      };
      const path = order.results.streamPath(order.job.name, stream);
      return { stream, path, cursor, sink: { write: sink.write, settle } };
    }),
    attempt: null,
    wasReached: false,
    isAway: false,
    readableBytes: null,
  };
  for (;;) {
    const shown = await showFromWhereItIs(showing);
    if (shown === "done") return null;
    if (shown !== "again") return shown;
  }
}

/** Once, when no more comes before the job ends. */
function explainLimit(showing: Showing, { offset, kept }: Cursor): void {
  if (showing.readableBytes === null || offset - kept !== showing.readableBytes) return;
  showing.readableBytes = null;
  const { name } = showing.job;
  showing.onNote(`${name} has printed more than half of --max-output: the last part comes when it has ended`);
}

/** "again": it is elsewhere now, or has to be tried again. */
async function showFromWhereItIs(showing: Showing): Promise<Shown> {
  const batch = loadBatch(showing.results, showing.stem);
  if (batch === null)
    throw new UserError(`the record of ${showing.stem} is gone`, { hint: "was job_results removed?" });
  const { id } = showing.job;
  const attempt = batch.state.jobs.get(id)?.lastNumber ?? 0;
  if (showing.attempt !== null && showing.attempt !== attempt)
    for (const { cursor } of showing.streams) rewind(cursor);
  if (showing.attempt !== attempt) {
    const limit = limitOfJob(showing.job, batch.settings.maxOutput);
    showing.readableBytes = limit && Math.floor(limit.bytes / 2);
  }
  showing.attempt = attempt;
  await showKept(showing, batch);
  const machine = machineToAsk(batch, id);
  return machine === null ? showFile(showing, batch) : showFromMachine(showing, batch, machine);
}

/** Output that the job has removed on the machine is on the local disk, if a client had fetched it. */
async function showKept({ job, attempt, streams }: Showing, batch: BatchHere): Promise<void> {
  for (const { stream, cursor, path, sink } of streams) {
    const kept = batch.kept.get(`${job.id} ${attempt} ${stream}`) ?? 0;
    if (cursor.offset < kept) await copyBeyond(path, cursor, sink.write, kept);
    cursor.kept = Math.max(cursor.kept, Math.min(kept, cursor.offset));
  }
}

/** Null: the local disk has it, or will have it once a client follows the batch. */
export function machineToAsk(
  { state, holder }: Pick<BatchHere, "state" | "holder">,
  id: JobId,
): string | null {
  const tracked = state.jobs.get(id);
  if (holder !== null || tracked?.fate.kind !== "tried") return null;
  const { machine, stage } = tracked.fate;
  // A client that was killed may have assigned it to a machine without handing it over.
  const isElsewhere = stage.kind === "collected" || stage.kind === "assigned" || stage.kind === "sent";
  return isElsewhere ? null : machine;
}

async function showFile(showing: Showing, batch: BatchHere): Promise<Shown> {
  const { results, job, stem, follows } = showing;
  let isWaiting = false;
  for (;;) {
    const isOver = results.has(job.name) || !follows;
    const bytes = await copyFiles(showing);
    if (bytes === null && !isWaiting) explainWait(showing, batch);
    isWaiting = bytes === null;
    if (!bytes) for (const { sink } of showing.streams) await sink.settle();
    if (!bytes && isOver) return "done";
    // A client that starts or ends changes where to look.
    if (readBatchHolder(results, stem)?.pid !== batch.holder?.pid) return "again";
    if (!bytes) await sleep(POLL_MS);
  }
}

/** Null: none of them exists. */
async function copyFiles({ streams }: Pick<Showing, "streams">): Promise<number | null> {
  let sum: number | null = null;
  for (const { path, cursor, sink } of streams) {
    const bytes = await copyBeyond(path, cursor, sink.write);
    if (bytes !== null) sum = (sum ?? 0) + bytes;
  }
  return sum;
}

function explainWait({ job: { id, name }, onNote }: Showing, batch: BatchHere): void {
  const tracked = batch.state.jobs.get(id);
  if (tracked?.fate.kind === "stopped") onNote(`${name} was stopped before it began`);
  const dependency = tracked && dependencyFact(batch.state, tracked);
  if (dependency?.isOver) onNote(`${name} is skipped because of ${dependency.name}: sshoal why ${name}`);
  if (tracked === undefined || phaseOf(tracked) !== "waiting") return;
  const { fate } = tracked;
  if (batch.holder === null)
    onNote(`${name} has not started, and no client follows its batch: ${resumeCommand(batch)} resumes it`);
  else
    onNote(
      `${name} has not started: it waits ${fate.kind === "tried" ? `on ${fate.machine}` : `for ${dependency?.name ?? "a machine"}`}`,
    );
}

async function showFromMachine(showing: Showing, batch: BatchHere, name: string): Promise<Shown> {
  const { job, streams, follows, onNote } = showing;
  const machine = batch.machines.get(name);
  if (machine === undefined) throw new UserError(`the record has no address of ${name}`);
  const place = placeOf(batch.batch, machine);
  const key = keyOn(batch.state, name, job.id);
  const onWaiting = () => onNote(`${job.name} has not started: it waits on ${name}`);
  const reached = await reach(machine, showing.connect, (session, signal) => {
    if (showing.isAway) onNote(`the link to ${name} is back`);
    showing.isAway = false;
    showing.wasReached = true;
    return copyFromMachine(session, { place, key, streams, follows, onWaiting }, signal);
  });
  return reached.kind === "unreached" ? waitOrFail(showing, reached) : finish(showing, reached.answer, name);
}

/** If a machine no longer has it, it is on the local disk by now, unless a client of another computer collected it. */
async function finish(
  { results, job, streams }: Showing,
  end: "shown" | "freed" | "gone",
  machine: string,
): Promise<Shown> {
  if (results.has(job.name)) await copyFiles({ streams });
  else if (end === "gone")
    throw new UserError(`${machine} no longer has the jobs that were handed over to it`, {
      exitCode: ExitCode.NoMachine,
    });
  else if (end === "freed")
    throw new UserError(`the results of ${job.name} were collected from ${machine} by another client`, {
      hint: "look on the computer where that client runs",
    });
  return "done";
}

async function waitOrFail(showing: Showing, unreached: Unreached): Promise<Shown> {
  const { machine, reason, isPassing } = unreached;
  const { follows, streams } = showing;
  if (follows && isPassing && showing.wasReached) {
    if (!showing.isAway) showing.onNote(`the link to ${machine} is lost: ${reason}; trying again`);
    showing.isAway = true;
    await sleep(RECONNECT_MS);
    return "again";
  }
  // At least shows what an earlier client fetched.
  await copyFiles({ streams: streams.filter(({ cursor }) => cursor.offset === 0) });
  for (const { sink } of streams) await sink.settle();
  return unreached;
}
