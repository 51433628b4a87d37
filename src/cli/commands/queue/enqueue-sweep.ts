// `sshoal sweep --enqueue`: the commands of a sweep as jobs of a queue, each with its parameters.

import { ExitCode } from "../../../errors.js";
import type { SweepCommand } from "../../../sweep/commands.js";
import { askedJob } from "../../options/queue/job-ask.js";
import type { SweepQueue } from "../../options/sweep-options.js";
import { addJobs, askedOf, placeOf, printAdded, queueNamed } from "./enqueue.js";
import { loadQueues } from "./queued-jobs.js";
import { needService } from "./service-here.js";

export async function enqueueSweep(
  commands: readonly SweepCommand[],
  { server, queue: name, said, freezes }: SweepQueue,
): Promise<ExitCode> {
  const client = await needService(server);
  const queue = queueNamed(name, await loadQueues(client));
  const place = await placeOf(client, queue, { said, freezes });
  const of = askedOf(queue, place.cwd);
  const jobs = commands.map(({ command, parameters }) => {
    const { ask, ...paths } = askedJob(command, place.said, of);
    return { ask: { ...ask, terms: { ...ask.terms, parameters } }, ...paths };
  });
  printAdded(await addJobs(client, queue, jobs, place), false);
  return ExitCode.Success;
}
