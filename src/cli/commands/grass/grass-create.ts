// `grass create-queue`: creates a queue of the service. Scripts of Grass create their queues after each start of the daemon,
// so a queue that is there already, with the same settings, is no mistake.

import { isDeepStrictEqual } from "node:util";
import type { QueueInfo } from "../../../api/queue-service.js";
import { ExitCode, UserError } from "../../../errors.js";
import type { QueueSpec } from "../../../model/queue.js";
import { ServiceError } from "../../../service/client/service-answer.js";
import { brokerOf } from "../../options/grass/broker-option.js";
import type { GrassCreateOptions } from "../../options/grass/create-queue-options.js";
import { note } from "../../terminal/note.js";
import { loadQueues } from "../queue/queued-jobs.js";
import { isProgram } from "./find-program.js";
import { needGrass } from "./need-grass.js";

export async function grassCreate({ spec, env, notes }: GrassCreateOptions): Promise<ExitCode> {
  for (const each of notes) note(each);
  noteProgram(spec);
  const client = await needGrass(brokerOf({}));
  const existing = (await loadQueues(client)).find(({ name }) => name === spec.name);
  if (existing !== undefined) return checkSame(existing, spec);
  try {
    await client.post<QueueInfo>("/v1/queues", { spec, env });
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
    throw existsError(spec.name);
  }
  process.stdout.write(`created: ${spec.name}\n`);
  return ExitCode.Success;
}

/** Values of variables are secrets, which the service gives to jobs alone. */
function checkSame(existing: QueueInfo, spec: QueueSpec): ExitCode {
  const settings = ({ capacity, cwd, prefix, envNames }: QueueSpec) => ({
    capacity,
    cwd,
    prefix,
    envNames: envNames.toSorted(),
  });
  if (!isDeepStrictEqual(settings(existing), settings(spec))) throw existsError(spec.name);
  process.stdout.write(`${spec.name} is there already, with these settings\n`);
  return ExitCode.Success;
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
