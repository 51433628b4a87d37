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
import type { JobsPlace } from "./place-elsewhere.js";
import { loadQueues, unknownQueue } from "./queued-jobs.js";
import { needService } from "./service-here.js";

/** Each takes two connections. */
const MOST_TEED = 50;

export async function enqueueOpen({ first, servers, read }: OpenEnqueueInvocation): Promise<number> {
  const { client, queues, isQueue } = await findFirst(first, servers);
  const options = read(isQueue);
  if (options === null) return ExitCode.Success;
  if (!isQueue) note(`no queue is named ${first}: this goes to the queue ${DEFAULT_QUEUE}`);
  return enqueueWith(client, queues, options);
}

/** Behind the name of a queue, options may follow; behind the beginning of a command, they are the command's. */
async function findFirst(first: string, { ifQueue, ifCommand }: OpenEnqueueInvocation["servers"]) {
  const client = await needService(ifQueue);
  const queues = await loadQueues(client);
  const isQueue = queues.some(({ name }) => name === first);
  if (isQueue || ifQueue.typed === ifCommand.typed) return { client, queues, isQueue };
  client.close();
  const other = await needService(ifCommand);
  return { client: other, queues: await loadQueues(other), isQueue };
}

export async function enqueue(options: EnqueueOptions): Promise<number> {
  const client = await needService(options.server);
  const ahead = client.door.isHere ? null : await import("./place-elsewhere.js");
  const [queues, directory] = [loadQueues(client), ahead?.askAhead(client, options) ?? null];
  return enqueueWith(client, await queues, options, directory);
}

async function enqueueWith(
  client: ServiceClient,
  queues: readonly QueueInfo[],
  options: EnqueueOptions,
  directory: Promise<string> | null = null,
): Promise<number> {
  const queue = queueNamed(options.queue ?? DEFAULT_QUEUE, queues);
  const place = await placeOf(client, queue, options, directory);
  const jobs = await readJobs({ ...options, said: place.said }, queue, place.cwd);
  const { isJson, tees } = options;
  if (tees && jobs.length > MOST_TEED)
    throw new UserError(`--tee follows at most ${MOST_TEED} jobs, and these are ${jobs.length}`, {
      hint: "use --wait, and sshoal logs -f for some of them",
    });
  const added = await addJobs(client, queue, jobs, place);
  printAdded(added, isJson);
  if (!options.waits) return ExitCode.Success;
  const { waitForAdded } = await import("./wait-for-added.js");
  return waitForAdded(client, added, { tees, isJson });
}

export async function placeOf(
  client: ServiceClient,
  queue: QueueInfo,
  { said, freezes }: Pick<EnqueueOptions, "said" | "freezes">,
  directory: Promise<string> | null = null,
): Promise<JobsPlace> {
  if (client.door.isHere) return { cwd: process.cwd(), said, freezes };
  const { placeElsewhere } = await import("./place-elsewhere.js");
  return placeElsewhere(client, queue, { said, freezes }, directory);
}

export function queueNamed(name: string, queues: readonly QueueInfo[]): QueueInfo {
  const queue = queues.find((each) => each.name === name);
  if (queue !== undefined) return queue;
  throw unknownQueue(
    name,
    queues.map((each) => each.name),
  );
}

async function readJobs(
  options: EnqueueOptions,
  queue: QueueInfo,
  cwd: string,
): Promise<readonly AskedJob[]> {
  const { words, said, isMarked } = options;
  const of = askedOf(queue, cwd);
  checkBeginning(words, queue, isMarked);
  if (!isSource(words, isMarked)) {
    const { ask, ...paths } = askedJob(commandLine(words), said, of);
    return [{ ask: words.length > 1 ? { ...ask, words } : ask, ...paths }];
  }
  const { readBatchJobs } = await import("./read-batch-jobs.js");
  return readBatchJobs(words[0] ?? "", options, of);
}

/** A mistyped option is no program. In a queue with a command, words are its arguments, whatever they look like. */
function checkBeginning([first = ""]: readonly string[], { prefix }: QueueInfo, isMarked: boolean): void {
  if (isMarked || prefix.length > 0 || !/^-./s.test(first)) return;
  throw new UserError(`unknown option '${first}'`, {
    hint: "sshoal enqueue --help; a program with such a name comes after --",
  });
}

export function askedOf({ name, capacity }: QueueInfo, cwd: string): AskedOf {
  return { queue: name, capacity, env: process.env, cwd };
}

/** A single word that is no command: `-`, or an existing file, or one that looks like a script. */
function isSource([only = "", ...rest]: readonly string[], isMarked: boolean): boolean {
  if (isMarked || rest.length > 0) return false;
  if (only === "-" || /^\S+\.(ba)?sh$/.test(only)) return true;
  return statSync(only, { throwIfNoEntry: false })?.isFile() ?? false;
}

export async function addJobs(
  client: ServiceClient,
  queue: QueueInfo,
  jobs: readonly AskedJob[],
  { cwd, freezes }: Pick<JobsPlace, "cwd" | "freezes">,
): Promise<Enqueued> {
  const isInPlace = queue.runsHere;
  const isForAll = freezes || !isInPlace;
  const areAnyFrozen = isForAll || jobs.some(({ forward, backwards }) => (forward ?? backwards) !== null);
  const asks = areAnyFrozen ? await frozen(client, queue, jobs, isForAll) : jobs.map(({ ask }) => ask);
  const asked = {
    queue: queue.name,
    jobs: asks,
    cwd,
    // Jobs on other computers get the environment there.
    ...(isInPlace && client.door.isHere && { environment: shellVariables() }),
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
  return freezeJobs(jobs, { client, queueCwd: queue.cwd, isForAll });
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
