// `sshoal enqueue`: gives jobs to the queue service, and prints their names. It starts fast: the rest is loaded where it is needed.

import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import type { QueueInfo } from "../../../api/queue-service.js";
import { ExitCode, UserError } from "../../../errors.js";
import { DEFAULT_QUEUE, type Enqueued, type JobAsk } from "../../../model/queue.js";
import { jsonLine } from "../../../report/lines/json-lines.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import { commandLine } from "../../options/queue/command-line.js";
import type { EnqueueOptions, OpenEnqueueInvocation } from "../../options/queue/enqueue-options.js";
import { type AskedJob, type AskedOf, askedJob } from "../../options/queue/job-ask.js";
import { note } from "../../terminal/note.js";
import { loadQueues, unknownQueue } from "./queued-jobs.js";
import { needService } from "./service-here.js";

/** Each takes two connections. */
const MOST_TEED = 50;

export async function enqueueOpen({ first, read }: OpenEnqueueInvocation): Promise<number> {
  const client = await needService();
  const queues = await loadQueues(client);
  const isQueue = queues.some(({ name }) => name === first);
  const options = read(isQueue);
  if (options === null) return ExitCode.Success;
  if (!isQueue) note(`no queue is named ${first}: this goes to the queue ${DEFAULT_QUEUE}`);
  return enqueueWith(client, queues, options);
}

export async function enqueue(options: EnqueueOptions): Promise<number> {
  const client = await needService();
  return enqueueWith(client, await loadQueues(client), options);
}

async function enqueueWith(
  client: ServiceClient,
  queues: readonly QueueInfo[],
  options: EnqueueOptions,
): Promise<number> {
  const queue = queueNamed(options.queue ?? DEFAULT_QUEUE, queues);
  const jobs = await readJobs(options, queue);
  const { isJson, tees } = options;
  if (tees && jobs.length > MOST_TEED)
    throw new UserError(`--tee follows at most ${MOST_TEED} jobs, and these are ${jobs.length}`, {
      hint: "use --wait, and sshoal logs -f for some of them",
    });
  const added = await addJobs(client, queue, jobs, options.freezes);
  printAdded(added, isJson);
  if (!options.waits) return ExitCode.Success;
  const { waitForAdded } = await import("./wait-for-added.js");
  return waitForAdded(client, added, { tees, isJson });
}

export function queueNamed(name: string, queues: readonly QueueInfo[]): QueueInfo {
  const queue = queues.find((each) => each.name === name);
  if (queue !== undefined) return queue;
  throw unknownQueue(
    name,
    queues.map((each) => each.name),
  );
}

async function readJobs(options: EnqueueOptions, queue: QueueInfo): Promise<readonly AskedJob[]> {
  const { words, said, isMarked } = options;
  const of = askedOf(queue);
  if (!isSource(words, isMarked)) {
    const { ask, ...paths } = askedJob(commandLine(words), said, of);
    return [{ ask: words.length > 1 ? { ...ask, words } : ask, ...paths }];
  }
  const { readBatchJobs } = await import("./read-batch-jobs.js");
  return readBatchJobs(words[0] ?? "", options, of);
}

export function askedOf({ name, capacity }: QueueInfo): AskedOf {
  return { queue: name, capacity, env: process.env, cwd: process.cwd() };
}

/** A single word that is no command: `-`, or an existing file, or one that looks like a script. */
function isSource([only = "", ...rest]: readonly string[], isMarked: boolean): boolean {
  if (isMarked || rest.length > 0) return false;
  if (only === "-" || /^\S+\.(ba)?sh$/.test(only)) return true;
  return statSync(only, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** `freezes`: also jobs that could run in place. */
export async function addJobs(
  client: ServiceClient,
  queue: QueueInfo,
  jobs: readonly AskedJob[],
  freezes: boolean,
): Promise<Enqueued> {
  const isHere = queue.runsHere;
  const isForAll = freezes || !isHere;
  const areAnyFrozen = isForAll || jobs.some(({ forward, backwards }) => (forward ?? backwards) !== null);
  const asks = areAnyFrozen ? await frozen(client, queue, jobs, isForAll) : jobs.map(({ ask }) => ask);
  const asked = {
    queue: queue.name,
    jobs: asks,
    cwd: process.cwd(),
    // Jobs on other machines get the environment there.
    ...(isHere && { environment: shellVariables() }),
    key: randomUUID(),
  };
  return client.post<Enqueued>("/v1/jobs", asked, "repeats");
}

async function frozen(
  client: ServiceClient,
  queue: QueueInfo,
  jobs: readonly AskedJob[],
  isForAll: boolean,
): Promise<readonly JobAsk[]> {
  const { freezeJobs } = await import("./freeze-jobs.js");
  return freezeJobs(jobs, { stateDir: client.service.state, queueCwd: queue.cwd, isForAll });
}

function shellVariables(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

export function printAdded({ queue, ids }: Enqueued, isJson: boolean): void {
  const lines = ids.map((id) =>
    isJson ? jsonLine({ v: 1, kind: "job-enqueued", queue, id, job: `${queue}/${id}` }) : `${queue}/${id}`,
  );
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}
