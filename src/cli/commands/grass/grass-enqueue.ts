// `grass enqueue`: adds one job to a queue of the service.

import { randomUUID } from "node:crypto";
import path from "node:path";
import type { QueueInfo } from "../../../api/queue-service.js";
import { ExitCode, UserError } from "../../../errors.js";
import type { Enqueued } from "../../../model/queue.js";
import { ServiceError } from "../../../service/client/service-answer.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import { programLine } from "../../../transport/quote.js";
import type {
  GrassEnqueueOptions,
  OpenGrassEnqueueInvocation,
} from "../../options/grass/grass-enqueue-options.js";
import { type AskedJob, askedJob } from "../../options/queue/job-ask.js";
import { note } from "../../terminal/note.js";
import { addJobs, askedOf, placeOf, printAdded } from "../queue/enqueue.js";
import type { JobsPlace } from "../queue/place-elsewhere.js";
import { loadQueues } from "../queue/queued-jobs.js";
import { isProgram } from "./find-program.js";
import { needGrass } from "./need-grass.js";
import { placeJob } from "./place-job.js";
import { isWorkerQueue } from "./worker-queue.js";

export async function grassEnqueueOpen({ first, server, read }: OpenGrassEnqueueInvocation): Promise<number> {
  const client = await needGrass(server);
  const queues = await loadQueues(client);
  return enqueueWith(client, queues, read(queues.some(({ name }) => name === first)));
}

export async function grassEnqueue(options: GrassEnqueueOptions): Promise<number> {
  const client = await needGrass(options.server);
  return enqueueWith(client, await loadQueues(client), options);
}

/** The name of an empty frozen directory. */
const NO_TREE = "";

async function enqueueWith(
  client: ServiceClient,
  queues: readonly QueueInfo[],
  { said, waits, ...asked }: GrassEnqueueOptions,
): Promise<number> {
  const search = { cwd: path.resolve(said.cwd ?? "."), path: process.env.PATH };
  const placed = placeJob(asked, queues, (word) => isProgram(word, search));
  const { queue, words, variables } = placed;
  if (placed.note !== null) note(placed.note);
  const env = [...(said.env ?? []), ...variables];
  const command = programLine(words.length === 0 ? queue.prefix : words);
  const own = { ...said, ...(env.length > 0 && { env }) };
  const isOnWorker = isWorkerQueue(queue);
  if (isOnWorker && said.cwd !== undefined)
    note("--cwd has no effect: the worker runs the jobs of this queue in its directory");
  const place = isOnWorker
    ? { cwd: "/", said: own, freezes: false }
    : await placeOf(client, queue, { said: own, freezes: false });
  const { ask, ...paths } = askedJob(command, place.said, askedOf(queue, place.cwd));
  const added = await add(client, queue, { ask: { ...ask, words }, ...paths }, place).catch(
    (error: unknown) => {
      throw error instanceof ServiceError && queue.capacity === null ? withPlace(error) : error;
    },
  );
  printAdded(added, false);
  if (!waits) return ExitCode.Success;
  const { waitForAdded } = await import("../queue/wait-for-added.js");
  return waitForAdded(client, added, { tees: false, isJson: false });
}

/** A worker has the directory of its queues, so nothing is sent there. */
async function add(
  client: ServiceClient,
  queue: QueueInfo,
  job: AskedJob,
  place: Pick<JobsPlace, "cwd" | "freezes">,
): Promise<Enqueued> {
  if (!isWorkerQueue(queue)) return addJobs(client, queue, [job], place);
  await client.post("/v1/trees", { entries: [] }, "repeats");
  const { cwd: _, ...ask } = job.ask;
  const jobs = [{ ...ask, terms: { ...ask.terms, tree: NO_TREE } }];
  return client.post("/v1/jobs", { queue: queue.name, jobs, cwd: "/", key: randomUUID() }, "repeats");
}

/** Such a job needs a queue that declares what it asks for, or a daemon that does. */
function withPlace(error: ServiceError): UserError {
  const { message, exitCode } = error;
  if (!/ can ever run this: /.test(message)) return error;
  return new UserError(message, {
    hint: "grass stop; grass start --capacity '{gpu: 4}', or name a queue that has it: grass show",
    exitCode,
    cause: error,
  });
}
