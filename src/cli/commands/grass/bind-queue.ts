// Creates a queue at the broker of the worker on this computer, and binds it to that worker.

import { setTimeout as pause } from "node:timers/promises";
import type { QueueInfo } from "../../../api/queue-service.js";
import { ExitCode, UserError } from "../../../errors.js";
import type { QueueSpec } from "../../../model/queue.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import { brokerOf } from "../../options/grass/broker-option.js";
import type { AskedServer } from "../../options/queue/server-options.js";
import { loadQueues } from "../queue/queued-jobs.js";
import { loadWorkerFile, saveWorkerFile, type WorkerFile, workerPlace } from "./worker-file.js";
import { inDirectory } from "./worker-queue.js";

const PATIENCE_MS = 60_000;
const AGAIN_MS = 100;

/** The way to the broker of a worker. */
export function brokerOfWorker({ server, tokenFile }: WorkerFile): AskedServer {
  return { ...brokerOf({ ...(tokenFile !== null && { tokenFile }) }), typed: server };
}

/** The queue as the broker has it: its jobs run here, in its directory. */
export function boundSpec(spec: QueueSpec, { capacity }: WorkerFile): QueueSpec {
  return {
    ...spec,
    capacity: spec.capacity ?? capacity,
    cwd: null,
    prefix: inDirectory(spec.cwd ?? process.cwd(), spec.prefix),
    joinedOnly: true,
  };
}

/** Resolves when the broker has this computer in the queue. */
export async function bindQueue(client: ServiceClient, queue: string, name: string): Promise<void> {
  changeQueues((queues) => [...new Set([...queues, queue])]);
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await pause(AGAIN_MS)) {
    const found: QueueInfo | undefined = (await loadQueues(client)).find((each) => each.name === queue);
    if (found?.joined.some((each) => each.name === name)) return;
  }
  throw new UserError(`the worker ${name} has not joined the queue ${queue} after ${PATIENCE_MS / 1000}s`, {
    hint: "look at what `grass daemon` prints on this computer",
    exitCode: ExitCode.JobFailed,
  });
}

export function unbindQueue(queue: string): void {
  changeQueues((queues) => queues.filter((each) => each !== queue));
}

function changeQueues(change: (queues: readonly string[]) => readonly string[]): void {
  const { file } = workerPlace();
  const worker = loadWorkerFile(file);
  const queues = change(worker?.queues ?? []);
  const isOther = queues.join() !== worker?.queues.join();
  if (worker !== null && isOther) saveWorkerFile(file, { ...worker, queues });
}
