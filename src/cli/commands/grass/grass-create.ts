// `grass create-queue`: creates a queue of the service. Scripts of Grass create their queues after each start of the daemon,
// so a queue that is there already, with the same settings, is no mistake.

import { isDeepStrictEqual } from "node:util";
import type { QueueInfo } from "../../../api/queue-service.js";
import { ExitCode, UserError } from "../../../errors.js";
import type { QueueSpec } from "../../../model/queue.js";
import { ServiceError } from "../../../service/client/service-answer.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import { brokerOf } from "../../options/grass/broker-option.js";
import type { GrassCreateOptions } from "../../options/grass/create-queue-options.js";
import { note } from "../../terminal/note.js";
import { loadQueues } from "../queue/queued-jobs.js";
import { needService } from "../queue/service-here.js";
import { bindQueue, boundSpec, brokerOfWorker, unbindQueue } from "./bind-queue.js";
import { isProgram } from "./find-program.js";
import { needGrass } from "./need-grass.js";
import { noSuchQueue } from "./place-job.js";
import { runningWorker } from "./worker-file.js";

export async function grassCreate({ spec: asked, env, notes }: GrassCreateOptions): Promise<ExitCode> {
  for (const each of notes) note(each);
  noteProgram(asked);
  const worker = runningWorker();
  const spec = worker === null ? asked : boundSpec(asked, worker);
  const client = worker === null ? await needGrass(brokerOf({})) : await needService(brokerOfWorker(worker));
  const { name } = spec;
  const existing = (await loadQueues(client)).find((each) => each.name === name);
  if (existing !== undefined) checkSame(existing, spec);
  else await create(client, spec, env);
  if (worker !== null) await bindQueue(client, name, worker.name);
  const where = worker === null ? "" : `; ${worker.name} runs its jobs`;
  process.stdout.write(
    existing === undefined
      ? `created: ${name}${where}\n`
      : `${name} is there already, with these settings${where}\n`,
  );
  return ExitCode.Success;
}

export async function grassDelete(name: string): Promise<ExitCode> {
  const client = await needGrass(brokerOf({}));
  const queues = await loadQueues(client);
  if (!queues.some((each) => each.name === name)) throw noSuchQueue(name, queues);
  await client.delete(`/v1/queues/${name}`);
  unbindQueue(name);
  process.stdout.write(`deleted: ${name}\n`);
  return ExitCode.Success;
}

async function create(client: ServiceClient, spec: QueueSpec, env: GrassCreateOptions["env"]): Promise<void> {
  try {
    await client.post<QueueInfo>("/v1/queues", { spec, env });
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
    throw existsError(spec.name);
  }
}

/** Values of variables are secrets, which the service gives to jobs alone. */
function checkSame(existing: QueueInfo, spec: QueueSpec): void {
  const settings = ({ capacity, cwd, prefix, envNames }: QueueSpec) => ({
    capacity,
    cwd,
    prefix,
    envNames: envNames.toSorted(),
  });
  if (!isDeepStrictEqual(settings(existing), settings(spec))) throw existsError(spec.name);
}

function existsError(name: string): UserError {
  return new UserError(`there is a queue ${name} already, with other settings`, {
    hint: `grass delete-queue ${name}, or another name`,
  });
}

/** As in Grass, a program without a slash is looked up on the PATH only. */
function noteProgram({ prefix: [program = ""], cwd }: QueueSpec): void {
  const search = { cwd: cwd ?? process.cwd(), path: process.env.PATH };
  if (program === "" || program.includes("/") || isProgram(program, search)) return;
  const isHere = isProgram(`./${program}`, search);
  note(`${program} is not on the PATH${isHere ? `: write ./${program} for the one in ${search.cwd}` : ""}`);
}
