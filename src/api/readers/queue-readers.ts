// The rules for the bodies that are about queues and machines.

import type { Capacities, QueueSpec } from "../../model/queue.js";
import type { MachineAct } from "../queue-service.js";
import {
  check,
  flag,
  list,
  map,
  object,
  oneOf,
  optional,
  orNull,
  type Read,
  refuse,
  required,
  text,
  whole,
} from "./fields.js";
import {
  absolutePath,
  knownQueue,
  queueName,
  resourceAmount,
  resourceName,
  variables,
} from "./job-readers.js";

const MOST_WORDS = 1000;
const MOST_BYTES = 128 << 10;
const MOST_JOBS = 1_000_000;

const instanceName: Read<string> = check(
  (raw) => /^[A-Za-z0-9][\w.-]{0,31}$/.test(String(raw)),
  "must be up to 32 letters, digits, _, . and -, beginning with a letter or digit",
);

export const capacity: Read<Capacities> = map(resourceName, map(instanceName, resourceAmount));

const spec = object<Omit<QueueSpec, "pool">>({
  name: required(queueName),
  capacity: required(orNull(capacity)),
  joinedOnly: optional(flag),
  machines: required(list(text(MOST_BYTES), MOST_WORDS)),
  cwd: required(orNull(absolutePath)),
  prefix: required(list(text(MOST_BYTES), MOST_WORDS)),
  envNames: required(list(text(MOST_BYTES), MOST_WORDS)),
  maxJobs: required(orNull(whole(1, MOST_JOBS))),
  ahead: required(
    orNull(
      check<number | "all">(
        (raw) => raw === "all" || (Number.isSafeInteger(raw) && Number(raw) >= 0 && Number(raw) <= MOST_JOBS),
        'must be a whole number from 0, or "all"',
      ),
    ),
  ),
  notify: required(orNull(text(MOST_BYTES))),
});

export interface NewQueue {
  readonly spec: QueueSpec;
  readonly env: Readonly<Record<string, string>>;
}

const anyQueue = object<NewQueue>({ spec: required(spec), env: required(variables) });

export const newQueue: Read<NewQueue> = (raw, place) => {
  const asked = anyQueue(raw, place);
  if (place.problems.length > 0) return asked;
  const { envNames } = asked.spec;
  for (const name of envNames)
    if (!Object.hasOwn(asked.env, name))
      refuse({ ...place, where: `env.${name}` }, "is missing: spec.envNames has it");
  for (const name of Object.keys(asked.env))
    if (!envNames.includes(name)) refuse({ ...place, where: `env.${name}` }, "is not in spec.envNames");
  return asked;
};

export const machineAct = object<MachineAct>({
  verb: required(oneOf(["add", "remove", "drain", "undrain"])),
  queue: required(knownQueue),
  machine: required(text(MOST_BYTES)),
});
