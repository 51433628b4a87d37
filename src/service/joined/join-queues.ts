// Lets a machine that dials in into its queues, and keeps that in the record.

import type { JoinAsk, JoinDoor } from "../../api/queue-service.js";
import { ExitCode, UserError } from "../../errors.js";
import type { Queue } from "../../model/queue.js";
import { VERSION } from "../../model/version.js";
import { keptOf } from "../kept-queue.js";
import type { Ledger } from "../ledger.js";
import type { House } from "../queue/generation-order.js";
import type { QueueRunner } from "../queue/queue-runner.js";
import { machinesOf, measureAll } from "../queue-machines.js";
import type { ServiceDatabase } from "../store/open-database.js";
import type { JoinedMachines } from "./joined-machines.js";

export interface JoinParts {
  readonly db: ServiceDatabase;
  readonly ledger: Ledger;
  readonly house: House & { readonly joined: JoinedMachines };
  queueNamed(name: string): Queue;
  runnerOf(queue: string): QueueRunner | undefined;
}

/** Throws UserError if the machine cannot join; nothing has changed then. */
export async function joinQueues(asked: JoinAsk, parts: JoinParts): Promise<JoinDoor> {
  refuseOtherVersion(asked.version);
  for (const queue of asked.queues.map(parts.queueNamed)) await refuseClash(asked, queue, parts);
  const door = await parts.house.joined.admit(asked);
  return {
    key: door.key,
    take: (stream) => {
      door.take(stream).then(
        (session) => noteJoined(asked, parts, session.gone),
        // The machine learns it from the end of its stream, and dials again.
        () => stream.destroy(),
      );
    },
  };
}

function refuseOtherVersion(version: string): void {
  const [theirs, ours] = [version, VERSION].map((each) => each.split(".")[0]);
  if (theirs === ours) return;
  throw new UserError(`the queue service is sshoal ${VERSION}, and the machine that joins has ${version}`, {
    hint: "use the same version for both",
    exitCode: ExitCode.BadInput,
  });
}

async function refuseClash({ name, capacity }: JoinAsk, queue: Queue, { house }: JoinParts): Promise<void> {
  const others = await machinesOf({ ...queue, joined: [] }, house);
  if (others.some((each) => each.name === name))
    throw new UserError(`the queue ${queue.name} has another machine named ${name}`, {
      hint: "sshoal join --name OTHER-NAME",
    });
  const undeclared = MEASURED.find(
    (each) => Object.hasOwn(capacity ?? {}, each) && !Object.hasOwn(queue.capacity ?? {}, each),
  );
  if (undeclared === undefined) return;
  throw new UserError(`the queue ${queue.name} measures ${undeclared}, and no machine can declare it`, {
    hint: `sshoal queue create OTHER --capacity '{${undeclared}: 1}', and join that queue`,
  });
}

/** What a job of a queue gets by measuring, unless the queue declares it. */
const MEASURED = ["gpu", "cpu", "memory"];

async function noteJoined(asked: JoinAsk, parts: JoinParts, gone: Promise<string>): Promise<void> {
  const { ledger, house, db, runnerOf } = parts;
  const { name } = asked;
  const left = await ledger.write((tell) => {
    for (const queue of asked.queues) tell({ kind: "machine-joined", queue, data: { machine: name } });
    return db.queues.all().filter((queue) => remember(asked, queue, db));
  });
  // It serves the queues that were named last.
  for (const queue of left) runnerOf(queue.name)?.windDown();
  void gone.then((reason) => {
    if (house.joined.isHere(name)) return;
    for (const queue of asked.queues)
      ledger.record((tell) => tell({ kind: "machine-left", queue, data: { machine: name, reason } }));
  });
  for (const queue of asked.queues) runnerOf(queue)?.noteJoined(name);
  await Promise.all(
    asked.queues.map(async (each) => {
      const queue = parts.queueNamed(each);
      const specs = await machinesOf(queue, house);
      await measureAll(
        queue,
        specs.filter((spec) => spec.name === name),
        house,
      );
    }),
  );
}

/** True if the queue had the machine, and has it no more. */
function remember({ name, queues, capacity }: JoinAsk, queue: Queue, db: ServiceDatabase): boolean {
  const others = queue.joined.filter((each) => each.name !== name);
  const isWanted = queues.includes(queue.name);
  if (!isWanted && others.length === queue.joined.length) return false;
  db.queues.setSpec({ ...keptOf(queue), joined: isWanted ? [...others, { name, capacity }] : others });
  return !isWanted;
}
