// Answers other clients of this computer while this one follows a batch. Disconnects a viewer that reads too slowly:
// the run never waits for one.

import { UserError } from "../../errors.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { JsonChannel, Message } from "../../socket/json-channel.js";
import { listenIn } from "../../socket/listening.js";
import type { FollowedRun } from "../follow/followed-run.js";
import { drainIn, retryIn, undrainIn } from "../follow/steer-run.js";
import { askToStop, maySettle, stopReport } from "../stop/stop-jobs.js";
import { Awaited } from "./awaited.js";
import { type Answer, PROTOCOL, parseRequest, type Request, type Typed } from "./protocol.js";
import { RecentNews } from "./recent-news.js";

/** Carries out a command that asks for the batch again. Throws UserError if it cannot. */
export type Reread = (run: FollowedRun, typed: Typed) => Promise<void>;

export interface FollowerServer {
  /** Null: there is no directory for a socket. */
  readonly path: string | null;
  /** What is true now and in no record. */
  readonly recent: RecentNews;
  /** Requests are answered from now on. */
  serve(run: FollowedRun): void;
  /** For viewers. */
  show(event: RunEvent, isNews: boolean): void;
  /** `exitCode`: null: the client leaves the batch, which continues. */
  close(exitCode: number | null): Promise<void>;
}

/** `dirs`: possible directories for the socket. */
export async function openFollowerServer(dirs: readonly string[], reread: Reread): Promise<FollowerServer> {
  const recent = new RecentNews();
  const viewers = new Set<JsonChannel>();
  let since = 0;
  let begin: (run: FollowedRun) => void = () => {};
  const running = new Promise<FollowedRun>((resolve) => {
    begin = resolve;
  });
  const watch = (channel: JsonChannel, { recordBytes }: FollowedRun) => {
    send(channel, { kind: "watching", recordBytes, since, recent: recent.events });
    viewers.add(channel);
    void channel.closed.then(() => viewers.delete(channel));
  };
  const awaited = new Awaited();
  const stop = async (run: FollowedRun, jobs: readonly JobId[] | null): Promise<Answer> => {
    const targets = askToStop(run, jobs);
    const report = await awaited.until(() => stopReport(run.state, targets), maySettle);
    return { kind: "stopped", jobs: report ?? [] };
  };
  const answer = async (channel: JsonChannel, message: Message) => {
    const run = await running;
    await run.begun;
    const request = parseRequest(message);
    if (request?.kind === "watch") return watch(channel, run);
    if (request?.kind === "stop") return send(channel, await stop(run, request.jobs));
    send(channel, request === null ? UNKNOWN : await carryOut(request, run, reread));
  };
  const listening = await listenIn(dirs, (channel) => {
    send(channel, { kind: "hello", protocol: PROTOCOL });
    let last = Promise.resolve();
    channel.listen((message) => {
      last = last.then(() => answer(channel, message));
    });
  });
  return {
    path: listening?.path ?? null,
    recent,
    serve: begin,
    show(event, isNews) {
      if (event.kind === "run-started" && since === 0) since = event.at;
      if (isNews) recent.note(event);
      awaited.note(event);
      if (viewers.size === 0 || event.kind === "job-output") return;
      const line = `${JSON.stringify({ kind: "event", event, isNews } satisfies Answer)}\n`;
      for (const viewer of viewers) viewer.sendLine(line);
    },
    async close(exitCode) {
      for (const viewer of viewers) send(viewer, { kind: "end", exitCode });
      await listening?.close();
    },
  };
}

const UNKNOWN: Answer = {
  kind: "refused",
  message: "the client that follows the batch does not know this request",
  hint: null,
};

async function carryOut(
  request: Exclude<Request, { kind: "watch" | "stop" }>,
  run: FollowedRun,
  reread: Reread,
): Promise<Answer> {
  try {
    await act(request, run, reread);
    return { kind: "done" };
  } catch (error) {
    if (error instanceof UserError)
      return { kind: "refused", message: error.message, hint: error.hint ?? null };
    run.abandon(error as Error);
    return { kind: "refused", message: "the client that follows the batch has a bug, and ends", hint: null };
  }
}

async function act(
  request: Exclude<Request, { kind: "watch" | "stop" }>,
  run: FollowedRun,
  reread: Reread,
): Promise<void> {
  switch (request.kind) {
    case "retry":
      return retryIn(run, request.jobs);
    case "drain":
      return drainIn(run, request.machine);
    case "undrain":
      return undrainIn(run, request.machine);
    case "reread":
      return reread(run, request);
    default:
      return request satisfies never;
  }
}

function send(channel: JsonChannel, answer: Answer): void {
  channel.send(answer);
}
