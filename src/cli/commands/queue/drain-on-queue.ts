// `sshoal drain` and `undrain` for machines of queues.

import type { QueueMachine } from "../../../api/queue-service.js";
import { loadAnyBatches } from "../../../batch/find/batches-here.js";
import { machineOf } from "../../../batch/machine/drain-machine.js";
import { ExitCode, UserError } from "../../../errors.js";
import { jsonLine } from "../../../report/lines/json-lines.js";
import { Results } from "../../../run/home/results.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import type { DrainOptions } from "../../options/acting-commands.js";
import { findService } from "./service-here.js";

type Verb = "drain" | "undrain";

/** Null: no queue has the machine. */
export async function drainOnQueue(verb: Verb, options: DrainOptions): Promise<ExitCode | null> {
  const client = await findService(options.server);
  if (client === null) return null;
  const { machines } = await client.get<{ machines: readonly QueueMachine[] }>("/v1/machines");
  const found = options.machines.flatMap((word) => machines.flatMap((each) => meantBy(word, each) ?? []));
  const [first] = found;
  if (first === undefined) {
    checkQueue(options.machine, machines);
    return null;
  }
  const isPlain = (word: string) => machines.some(({ machine }) => machine === word);
  const batches = loadAnyBatches(new Results(process.cwd()));
  const here = batches.find((batch) =>
    options.machines.some((word) => isPlain(word) && machineOf(batch, word) !== null),
  );
  if (here !== undefined)
    throw new UserError(
      `${first.machine} has jobs of ${here.stem} here and of the queue ${first.queue}: which?`,
      {
        hint: `sshoal ${verb} ${first.queue}/${first.machine}, or in another directory than this`,
      },
    );
  for (const each of found) await drainOne(client, verb, each, options.isJson);
  return ExitCode.Success;
}

/** Throws UserError if the word names a queue: then it is no machine of a batch. */
function checkQueue(word: string, machines: readonly QueueMachine[]): void {
  const [queue = ""] = word.split("/");
  const own = machines.filter((each) => each.queue === queue).map(({ machine }) => `${queue}/${machine}`);
  if (own.length === 0) return;
  throw new UserError(
    word === queue ? `${word} is a queue: which of its machines?` : `there is no machine ${word}`,
    { hint: `the queue has ${own.join(", ")}` },
  );
}

/** `train/gpu1`, or `gpu1` for all queues; `gpu1:0` is its first card. Null: another machine. */
function meantBy(word: string, machine: QueueMachine): QueueMachine | null {
  const own = word.startsWith(`${machine.queue}/`) ? word.slice(machine.queue.length + 1) : word;
  if (own !== machine.machine && own.replace(/:\d+$/, "") !== machine.machine) return null;
  return { ...machine, machine: own };
}

async function drainOne(
  client: ServiceClient,
  verb: Verb,
  { queue, machine }: QueueMachine,
  isJson: boolean,
): Promise<void> {
  await client.post("/v1/machines", { verb, queue, machine });
  const kind = verb === "drain" ? "machine-draining" : "machine-opened";
  const text = `${verb === "drain" ? "draining" : "open again"}: ${machine}; queue ${queue}`;
  process.stdout.write(`${isJson ? jsonLine({ kind, machine, queue }) : text}\n`);
}
