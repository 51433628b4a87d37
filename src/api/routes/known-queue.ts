// The status of what the service refused: unknown names, and conflicts with what there is.

import { UserError } from "../../errors.js";
import { suggest } from "../../input/suggest.js";
import type { JobId } from "../../model/job.js";
import type { QueueJob } from "../../model/queue.js";
import type { QueueService } from "../queue-service.js";
import { Refusal } from "../refusal.js";

/** Only asked after the service refused. 404 if there is no such queue, otherwise `status`. */
export function refusedFor(
  service: QueueService,
  queue: string,
  status: 400 | 409 | 503,
): (error: unknown) => unknown {
  return (error) => {
    if (!(error instanceof UserError) || error instanceof Refusal) return error;
    const names = service.queues().map(({ name }) => name);
    if (names.includes(queue)) return withStatus(error, status);
    const [nearest] = suggest(queue, names);
    const hint =
      error.hint ?? (nearest === undefined ? `queues: ${names.join(", ")}` : `did you mean ${nearest}?`);
    return withStatus(error, 404, hint);
  };
}

export function withStatus(error: UserError, status: number, hint = error.hint): Refusal {
  const { message, exitCode, problems, cause } = error;
  return new Refusal(status, message, { ...(hint !== undefined && { hint }), exitCode, problems, cause });
}

/** Throws a Refusal with status 404. */
export function jobOf(service: QueueService, words: Readonly<Record<string, string>>): QueueJob {
  const { QUEUE: queue = "", ID: id = "" } = words;
  const number: JobId = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : Number.NaN;
  if (Number.isNaN(number))
    throw new Refusal(404, `there is no job ${queue}/${id}`, { hint: "an id is a number" });
  try {
    return service.job(queue, number);
  } catch (error) {
    throw refusedFor(service, queue, 400)(error) instanceof Refusal
      ? withStatus(error as UserError, 404)
      : error;
  }
}
