// Adds a queue to the record, with the variables of its jobs.

import { UserError } from "../errors.js";
import { DEFAULT_QUEUE, isQueueName, type QueueSpec } from "../model/queue.js";
import { withPool } from "./kept-queue.js";
import { machinesOf, measureUnknown } from "./queue-machines.js";
import type { ServiceParts } from "./running-queues.js";

/** Throws UserError if there cannot be such a queue; nothing is added then. */
export async function createQueue(
  asked: QueueSpec,
  env: Readonly<Record<string, string>>,
  { db, ledger, house }: ServiceParts,
): Promise<void> {
  const { name } = asked;
  const spec = withPool(asked, db.queues.find(DEFAULT_QUEUE)?.capacity ?? null);
  if (!isQueueName(name))
    throw new UserError(`the name ${JSON.stringify(name)} cannot be used for a queue`, {
      hint: "a name begins with a letter, and has letters, digits, -, _ and .",
    });
  const specs = await machinesOf(spec, house);
  const hash = Object.keys(env).length === 0 ? null : db.secrets.keep(env, Date.now());
  await ledger.write((tell) => {
    if (db.queues.find(name) !== null)
      throw new UserError(`there is a queue ${name} already`, {
        hint: `sshoal queue delete ${name}, or another name`,
      });
    db.queues.add({ ...spec, envNames: Object.keys(env) }, hash, Date.now());
    tell({ kind: "queue-created", queue: name });
  });
  await measureUnknown(spec, specs, house);
}
