// `grass show`: the daemon, its workers, and the jobs of queues.

import { release, type, uptime } from "node:os";
import type { Health, QueueInfo, QueueMachine } from "../../../api/queue-service.js";
import { ExitCode } from "../../../errors.js";
import type { QueueJob } from "../../../model/queue.js";
import { abilitiesOf } from "../../../report/live/abilities.js";
import { formatSpans, lookOf } from "../../../report/live/styled-text.js";
import {
  type GrassState,
  type GrassWorker,
  grassJson,
  grassLines,
} from "../../../report/tables/grass-table.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import { programLine } from "../../../transport/quote.js";
import { brokerOf } from "../../options/grass/broker-option.js";
import type { GrassShowOptions } from "../../options/grass/grass-show-options.js";
import { loadAllJobs } from "../queue/queued-jobs.js";
import { findService, HERE } from "../queue/service-here.js";
import { needGrass } from "./need-grass.js";
import { noSuchQueue } from "./place-job.js";
import { runningWorker } from "./worker-file.js";
import { inDirectory, workerDirectory } from "./worker-queue.js";

/** Of GET /v1/state: everything of one moment, with some of the jobs. */
interface State {
  readonly health: Health;
  readonly queues: readonly QueueInfo[];
  readonly machines: readonly QueueMachine[];
  readonly jobs: readonly QueueJob[];
}

export async function grassShow({ queue, isJson, isLive, server }: GrassShowOptions): Promise<ExitCode> {
  const client = await needGrass(server);
  if (isLive) {
    const { showOn } = await import("../queue/show.js");
    return showOn(client, { queue, states: [], limit: null, isLive, isJson: false });
  }
  const state = await load(client, queue, isJson);
  if (isJson) {
    process.stdout.write(`${grassJson(state)}\n`);
    return ExitCode.Success;
  }
  const { isTTY = false, columns, rows } = process.stdout;
  const look = lookOf(abilitiesOf({ isTTY, columns, rows, env: process.env }));
  const width = isTTY ? columns || 80 : Number.POSITIVE_INFINITY;
  const canvas = { columns: width, rows: 0, now: Date.now(), look };
  const lines = grassLines(state, { signs: look, columns: width });
  process.stdout.write(lines.map((line) => `${formatSpans(line, canvas).trimEnd()}\n`).join(""));
  return ExitCode.Success;
}

async function load(client: ServiceClient, name: string | null, isAll: boolean): Promise<GrassState> {
  const state = await client.get<State>("/v1/state");
  const queues = name === null ? state.queues : state.queues.filter((each) => each.name === name);
  if (name !== null && queues.length === 0) throw noSuchQueue(name, state.queues);
  const names = new Set(queues.map((queue) => queue.name));
  const some = isAll
    ? (await Promise.all([...names].map((queue) => loadAllJobs(client, { queue })))).flat()
    : state.jobs.filter((job) => names.has(job.queue));
  const known = queues.flatMap(({ counts: { held: _, ...counts } }) => Object.values(counts));
  return {
    daemon: await daemonHere(client),
    address: addressOf(client),
    workers: workersOf(
      state.machines.filter(({ queue }) => names.has(queue)),
      client.door.isHere,
    ),
    jobs: some
      .map((job) => asTyped(job, queues))
      .toSorted((one, other) => one.enqueuedAt - other.enqueuedAt || one.id - other.id),
    left: Math.max(0, known.reduce((sum, count) => sum + count, 0) - some.length),
  };
}

/** What runs on this computer, whichever broker is asked. */
async function daemonHere(client: ServiceClient): Promise<GrassState["daemon"]> {
  const worker = runningWorker();
  if (worker !== null) return { pid: null, worker: worker.server };
  if (client.door.isHere) return { pid: client.service.pid, worker: "this computer" };
  const own = await findService({ ...brokerOf({}), typed: HERE });
  own?.close();
  return { pid: own?.service.pid ?? null, worker: own === null ? null : "this computer" };
}

function addressOf({ door, service }: ServiceClient): string {
  if (!door.isHere) return door.at.replace(/^ (at|of|on) (tcp:\/\/)?/, "");
  return service.listen ?? service.socket;
}

/** Without the words that bring a job of a worker to its directory. */
function asTyped(job: QueueJob, queues: readonly QueueInfo[]): QueueJob {
  const queue = queues.find(({ name }) => name === job.queue);
  const dir = queue === undefined ? null : workerDirectory(queue);
  if (queue === undefined || dir === null) return job;
  const before = `${programLine(inDirectory(dir, []))} `;
  return job.command.startsWith(before)
    ? { ...job, command: job.command.slice(before.length), cwd: dir }
    : job;
}

/** What is known of other computers is what jobs need. */
function workersOf(machines: readonly QueueMachine[], isOwn: boolean): GrassWorker[] {
  const names = [...new Set(machines.map(({ machine }) => machine))];
  return names.map((name) => {
    const own = machines.filter(({ machine }) => machine === name);
    const isHere = isOwn && name === "localhost";
    return {
      hostname: own.find(({ capacity }) => capacity !== null)?.capacity?.hostname ?? name,
      os: isHere ? `${type()} (${release()})` : null,
      uptimeMs: isHere ? uptime() * 1000 : null,
      queues: own.map(({ queue, running }) => ({ name: queue, running: running.length })),
    };
  });
}
