// Follows a batch to its end, for any command: starts the run, passes its events to a viewer, and reports how it ended.

import path from "node:path";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import { countLeft, type Left } from "../../plan/remaining.js";
import type { Policy, RunState } from "../../plan/run-state.js";
import { type BatchRun, startRun } from "../../run/batch-run.js";
import { RunLock } from "../../run/home/lock.js";
import type { BatchOrder } from "../../run/order.js";
import type { Rerun } from "../../run/rerun.js";
import type { SendingLimits } from "../../run/verbs/terms.js";
import { type BatchApi, openBatchApi } from "../as-queue/batch-api.js";
import type { LastingConnector, Suspendable } from "../connector.js";
import { rememberDirectory } from "../find/known-directories.js";
import type { Typed } from "../follower/protocol.js";
import { type FollowerServer, openFollowerServer } from "../follower/serve-follower.js";
import type { Notifier } from "../notice/notifier.js";
import type { Surroundings } from "../surroundings.js";
import { BegunAnew, FollowedRun, type NextOrder } from "./followed-run.js";
import { Detached } from "./leaving.js";
import { rerunCollected } from "./rerun-collected.js";
import { Steering } from "./steering.js";

export type FollowOrder = Omit<BatchOrder, "onEvent" | "onOutput" | "fleet" | "client" | "sending" | "lock">;

export interface Following {
  readonly order: FollowOrder;
  readonly surroundings: Surroundings;
  readonly connector: LastingConnector;
  readonly viewer: Viewer;
  readonly sending: SendingLimits;
  /** Brings jobs while the batch runs. */
  readonly feed?: ((run: BatchRun, signal: AbortSignal) => Promise<void>) | undefined;
  /** Jobs that have ended on their machines: each runs again once its results are collected. */
  readonly rerunsCollected?: ReadonlySet<JobId> | undefined;
  /** Leaves once the machines have all jobs. */
  readonly detaches?: boolean | undefined;
  /** What happens when all first jobs crash in the same way; absent: nothing. */
  readonly onSameCrash?: Policy["onSameCrash"] | undefined;
  /** Called at the start and after every event; true: leave. */
  readonly isEnough?: ((run: BatchRun, event: RunEvent) => boolean) | undefined;
  /**
   * Makes an order from a command that asks for the batch again. Throws UserError if it is not one. Absent: the batch
   * cannot be asked for again.
   */
  readonly orderTyped?: (typed: Typed) => Promise<NextOrder>;
  /** The order to run finished jobs again; absent: the current order. Rejects with UserError if there is none. */
  readonly orderAgain?: (rerun: Rerun) => Promise<NextOrder>;
  /** Gets every event; absent: no command is run at the end. */
  readonly notifier?: Pick<Notifier, "note">;
  /** For those that watch; left out: they get none. */
  readonly exitCodeOf?: (ending: Ending) => number;
}

interface Viewer extends Suspendable {
  show(event: RunEvent, known: { readonly state: RunState; readonly isNews: boolean }): void;
  /** Resolves when more output of jobs can be shown; null: their output is not shown. */
  readonly hasRoom: ((signal: AbortSignal) => Promise<void>) | null;
  /** Called once the run has begun, to steer it. Returns a function to call when it is over. */
  attend(steering: Steering): () => void;
}

export type Ending =
  | {
      readonly kind: "finished";
      readonly state: RunState;
      /** No machine accepted us because another client has the batch: nothing was done. */
      readonly isHeld: boolean;
    }
  | { readonly kind: "detached"; readonly signal: string | null; readonly left: Left };

export async function followBatch(following: Following): Promise<Ending> {
  const { surroundings, orderTyped, exitCodeOf } = following;
  rememberDirectory(surroundings, path.dirname(following.order.results.dir));
  const server = await openFollowerServer(surroundings.socketDirs, async (run, typed) => {
    run.expectChange();
    if (orderTyped !== undefined) run.beginAnew(await orderTyped(typed));
  });
  const api = await openBatchApi(surroundings.socketDirs);
  let exitCode: number | null = null;
  try {
    const ending = await followServed(following, server, api);
    if (ending.kind === "finished") exitCode = exitCodeOf?.(ending) ?? null;
    return ending;
  } finally {
    await Promise.all([server.close(exitCode), api.close()]);
  }
}

async function followServed(following: Following, server: FollowerServer, api: BatchApi): Promise<Ending> {
  const { surroundings, connector, viewer, sending, feed, isEnough, detaches = false } = following;
  const { onSameCrash } = following;
  let { order } = following;
  let isHeld = false;
  let isAnyReady = false;
  const onEvent = (event: RunEvent, isNews: boolean) => {
    if (event.kind === "machine-failed" && event.isHeld) isHeld = true;
    if (event.kind === "machine-ready") isAnyReady = true;
    // Jobs that were done before are reported once.
    const isReported = isNews && !(order.goesOn && event.kind === "job-skipped");
    viewer.show(event, { state: run.state, isNews: isReported });
    server.show(event, isReported);
    api.note(event);
    following.notifier?.note(event, run.state);
    if (isEnough?.(run, event)) run.abandon(new Detached());
    noteCollected(event);
    steering.note(event);
  };
  const { fleet, audience } = connector;
  audience.onNote = (message) => run.emit({ kind: "warning", message });
  audience.view = viewer;
  const { hasRoom } = viewer;
  const onOutput: BatchOrder["onOutput"] =
    hasRoom === null
      ? undefined
      : async (output, signal) => {
          viewer.show(output, { state: run.state, isNews: true });
          await hasRoom(signal);
        };
  const sockets = { ...(server.path && { socket: server.path }), ...(api.path && { api: api.path }) };
  const lock = new RunLock(sockets, () => run.hasNext);
  const start = () =>
    startRun({
      ...order,
      policy: { ...order.policy, ...(onSameCrash && { onSameCrash }) },
      ...(onOutput && { onOutput }),
      client: clientName(surroundings),
      sending,
      onEvent,
      fleet,
      lock,
    });
  const run = new FollowedRun(start(), {
    fixedBecause: reasonToStay(following),
    orderAgain: following.orderAgain ?? (async (rerun) => ({ rerun })),
  });
  const noteCollected = rerunCollected(run, following.rerunsCollected ?? new Set());
  const steering = new Steering(run, { detaches, pid: surroundings.pid });
  const leave = viewer.attend(steering);
  const serve = () => {
    server.serve(run);
    api.serve({
      run,
      order: () => order,
      steering,
      recent: server.recent,
      connect: async (machine, signal) => (await fleet.borrow(machine, signal)).session,
      pid: surroundings.pid,
    });
  };
  const over = new AbortController();
  feed?.(run, over.signal).catch(run.abandon);
  try {
    for (;;) {
      const state = await finishOne(run, serve);
      const next = run.takeNext();
      if (next === null) return { kind: "finished", state, isHeld: isHeld && !isAnyReady };
      order = { ...order, ...next, goesOn: { skipped: skippedIn(state) } };
      await order.results.prepare();
      run.replace(start());
    }
  } catch (error) {
    if (!(error instanceof Detached)) throw error;
    return { kind: "detached", signal: error.signal, left: countLeft(run.state) };
  } finally {
    over.abort();
    leave();
  }
}

/** Ends, also by a request to begin again. */
async function finishOne(run: FollowedRun, serve: () => void): Promise<RunState> {
  const { state } = run;
  const finishing = run.finish();
  serve();
  await finishing.catch((error: unknown) => {
    if (!(error instanceof BegunAnew)) throw error;
  });
  return state;
}

function skippedIn({ jobs }: RunState): Set<JobId> {
  return new Set([...jobs].flatMap(([id, { fate }]) => (fate.kind === "skipped" ? [id] : [])));
}

/** Null: another run may follow. */
function reasonToStay({ feed, orderTyped }: Following): string | null {
  if (feed !== undefined) return "the batch gets its jobs while it runs";
  return orderTyped === undefined ? "the client that follows the batch is only stopping jobs" : null;
}

function clientName({ username, computer, cwd }: Surroundings): string {
  return `${username}@${computer}:${cwd}`.replace(/[\n\0]/g, "?");
}
