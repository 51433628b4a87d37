// `grass enqueue`: adds one job to a queue of the service.

import path from "node:path";
import type { QueueInfo } from "../../../api/queue-service.js";
import { ExitCode, UserError } from "../../../errors.js";
import { type ServiceClient, ServiceError } from "../../../service/client/service-client.js";
import { programLine } from "../../../transport/quote.js";
import type {
  GrassEnqueueOptions,
  OpenGrassEnqueueInvocation,
} from "../../options/grass/grass-enqueue-options.js";
import { askedJob } from "../../options/queue/job-ask.js";
import { note } from "../../terminal/note.js";
import { addJobs, askedOf, printAdded } from "../queue/enqueue.js";
import { loadQueues } from "../queue/queued-jobs.js";
import { isProgram } from "./find-program.js";
import { needGrass } from "./need-grass.js";
import { placeJob } from "./place-job.js";

export async function grassEnqueueOpen({ first, broker, read }: OpenGrassEnqueueInvocation): Promise<number> {
  const client = await needGrass(broker);
  const queues = await loadQueues(client);
  return enqueueWith(client, queues, read(queues.some(({ name }) => name === first)));
}

export async function grassEnqueue(options: GrassEnqueueOptions): Promise<number> {
  const client = await needGrass(options.broker);
  return enqueueWith(client, await loadQueues(client), options);
}

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
  const command = words.length === 0 ? "" : programLine(words);
  const job = askedJob(command, { ...said, ...(env.length > 0 && { env }) }, askedOf(queue));
  const added = await addJobs(client, queue, [{ ...job, ask: { ...job.ask, words } }], false).catch(
    (error: unknown) => {
      throw error instanceof ServiceError && queue.capacity === null ? withPlace(error) : error;
    },
  );
  printAdded(added, false);
  if (!waits) return ExitCode.Success;
  const { waitForAdded } = await import("../queue/wait-for-added.js");
  return waitForAdded(client, added, { tees: false, isJson: false });
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
