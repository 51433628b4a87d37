// `sshoal show`: the jobs of queues, once or live.

import { setTimeout as pause } from "node:timers/promises";
import type { QueueInfo } from "../../../api/queue-service.js";
import { ExitCode, UserError } from "../../../errors.js";
import type { QueueJob } from "../../../model/queue.js";
import { abilitiesOf } from "../../../report/live/abilities.js";
import { QueueView } from "../../../report/live/queue-view.js";
import { formatSpans, lookOf } from "../../../report/live/styled-text.js";
import { type QueueChoice, type QueueOrder, queueLines } from "../../../report/tables/queue-lines.js";
import { queuedJobJson } from "../../../report/tables/queue-table.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import type { ShowOptions } from "../../options/queue/show-options.js";
import { KeyScreen } from "../../terminal/key-screen.js";
import { WayOut } from "../../terminal/way-out.js";
import { queueNamed } from "./enqueue.js";
import { type JobPage, jobsPath, loadAllJobs, loadQueues } from "./queued-jobs.js";
import { needService } from "./service-here.js";

const USUAL_LIMIT = 20;
/** Of each state, in the answer to one question. */
const MOST_IN_STATE = 100;
/** Between two questions of the live view. */
const RESTS_MS = 300;

export async function show(options: ShowOptions): Promise<ExitCode> {
  return showOn(await needService(options.server), options);
}

export async function showOn(client: ServiceClient, options: Omit<ShowOptions, "server">): Promise<ExitCode> {
  const { queue, states, isJson, isLive } = options;
  const limit = options.limit ?? USUAL_LIMIT;
  if (isJson) return showJson(client, options);
  const choice: QueueChoice = { order: "state", limit, states };
  const { isTTY = false, columns, rows } = process.stdout;
  const abilities = abilitiesOf({ isTTY, columns, rows, env: process.env });
  if (isLive) {
    if (!abilities.canRedraw)
      throw new UserError("-i needs a terminal", { hint: "sshoal show prints the jobs once" });
    return watch(client, queue, choice, abilities);
  }
  const look = lookOf(abilities);
  const canvas = {
    columns: isTTY ? columns || 80 : Number.POSITIVE_INFINITY,
    rows: 0,
    now: Date.now(),
    look,
  };
  const shown = await load(client, queue, choice);
  const { lines } = queueLines(shown, choice, { signs: look, columns: canvas.columns, now: canvas.now });
  process.stdout.write(lines.map((line) => `${formatSpans(line, canvas).trimEnd()}\n`).join(""));
  return ExitCode.Success;
}

/** Without a limit, all jobs. */
async function showJson(
  client: ServiceClient,
  { queue, states, limit }: Omit<ShowOptions, "server">,
): Promise<ExitCode> {
  const queues = await wantedQueues(client, queue);
  for (const { name } of queues) {
    const query = { queue: name, ...(states.length > 0 && { states: states.join(",") }) };
    const jobs =
      limit === null
        ? await loadAllJobs(client, query)
        : (await client.get<JobPage>(jobsPath({ ...query, limit: `${limit}` }))).jobs;
    process.stdout.write(jobs.map((job) => `${queuedJobJson(job)}\n`).join(""));
  }
  return ExitCode.Success;
}

async function wantedQueues(client: ServiceClient, name: string | null): Promise<readonly QueueInfo[]> {
  const queues = await loadQueues(client);
  return name === null ? queues : [queueNamed(name, queues)];
}

interface State {
  readonly seq: number;
  readonly queues: readonly QueueInfo[];
  readonly jobs: readonly QueueJob[];
}

/** Everything of one moment if that is enough; many jobs, or those of some states, are asked for one queue after the other. */
async function load(
  client: ServiceClient,
  name: string | null,
  { states, limit }: QueueChoice,
): Promise<State> {
  const all = await client.get<State>("/v1/state");
  const queues = name === null ? all.queues : [queueNamed(name, all.queues)];
  if (states.length === 0 && limit <= MOST_IN_STATE) return { ...all, queues };
  const wanted =
    states.length > 0
      ? states
      : (["running", "waiting", "failed", "lost", "stopped", "succeeded", "skipped"] as const);
  const pages = await Promise.all(
    queues.flatMap(({ name: queue }) =>
      wanted.map((word) =>
        word === "running" || (word === "waiting" && limit <= MOST_IN_STATE)
          ? all.jobs.filter((job) => job.queue === queue && job.state === word)
          : client
              .get<JobPage>(jobsPath({ queue, states: word, limit: `${limit}` }))
              .then(({ jobs }) => jobs),
      ),
    ),
  );
  return { seq: all.seq, queues, jobs: pages.flat() };
}

const ORDERS: ReadonlyMap<string, QueueOrder> = new Map([
  ["i", "id"],
  ["t", "time"],
  ["p", "priority"],
  ["s", "state"],
]);
const SCROLLS: ReadonlyMap<string, readonly [number, "line" | "window"]> = new Map([
  ["j", [1, "line"]],
  ["k", [-1, "line"]],
  ["f", [1, "window"]],
  [" ", [1, "window"]],
  ["b", [-1, "window"]],
  ["g", [-1e9, "line"]],
  ["G", [1e9, "line"]],
]);

async function watch(
  client: ServiceClient,
  name: string | null,
  choice: QueueChoice,
  abilities: { readonly useColour: boolean; readonly useUnicode: boolean },
): Promise<ExitCode> {
  const wayOut = new WayOut();
  let state = await load(client, name, choice);
  const view = new QueueView({ stream: process.stdout, now: Date.now, ...abilities, choice });
  view.show(state);
  const onKey = (key: string) => {
    const order = ORDERS.get(key);
    if (order !== undefined) view.sortBy(order);
    const scroll = SCROLLS.get(key);
    if (scroll !== undefined) view.scroll(...scroll);
  };
  const screen = new KeyScreen({ view, onKey, onLeave: (how) => wayOut.leave(how) });
  try {
    let isNews = false;
    const listening = listen(client, state.seq, wayOut.signal, () => {
      isNews = true;
    });
    while (!wayOut.signal.aborted) {
      await Promise.race([listening, pause(RESTS_MS, undefined, { signal: wayOut.signal }).catch(() => {})]);
      if (!isNews || wayOut.signal.aborted) continue;
      isNews = false;
      state = await load(client, name, choice);
      view.show(state);
    }
    return wayOut.code;
  } finally {
    screen.close();
    view.close();
    wayOut.close();
  }
}

/** Rejects when the service stays away. */
async function listen(
  client: ServiceClient,
  after: number,
  signal: AbortSignal,
  onNews: () => void,
): Promise<void> {
  for await (const _ of client.events(after, signal)) onNews();
}
