// The rules for the bodies that are about jobs.

import { isAbsolute } from "node:path";
import type { GpuRequirement, ListedCard, Requirement } from "../../model/job.js";
import { isOutputLimit, type OutputLimit } from "../../model/output-limit.js";
import {
  type Act,
  type DependencyAsk,
  type Enqueue,
  isQueueName,
  JOB_VERBS,
  type JobAsk,
} from "../../model/queue.js";
import { isResourceAmount, isResourceName, MOST_AMOUNTS } from "../../model/resource.js";
import { isWrap } from "../../model/wrapper.js";
import {
  amount,
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
  textOrEmpty,
  whole,
} from "./fields.js";

const MOST_COMMAND_BYTES = 1 << 20;
/** The kernel takes no longer variable. */
const MOST_VALUE_BYTES = 128 << 10;
const MOST_PATH_BYTES = 4095;
const MOST_JOBS = 200_000;
const MOST_ITEMS = 10_000;
const MOST_NAME_BYTES = 200;
const MOST_MEMORY_MB = 1e9;

const jobId = whole(1, Number.MAX_SAFE_INTEGER);
const priority = whole(-499, 499);
const jobIds = list(jobId, MOST_JOBS);

export const queueName: Read<string> = check(
  (raw) => typeof raw === "string" && isQueueName(raw),
  "must be the name of a queue: up to 63 letters, digits, _, . and -, beginning with a letter",
);

/** Of one that is there. A followed batch has the name of its file, which can be in any script. */
export const knownQueue: Read<string> = check(
  (raw) => /^[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}._+=@,%-]{0,80}$/u.test(String(raw)),
  "must be the name of a queue or a batch",
);

export const absolutePath: Read<string> = check(
  (raw) => typeof raw === "string" && isAbsolute(raw) && !raw.includes("\0") && raw.length <= MOST_PATH_BYTES,
  "must be an absolute path",
);

export const variables = map(
  check<string>((raw) => /^[A-Za-z_]\w*$/.test(String(raw)), "must be the name of a variable"),
  textOrEmpty(MOST_VALUE_BYTES),
);

/** Those of a shell, which also has functions of bash: `BASH_FUNC_x%%`. */
const environment = map(
  check<string>((raw) => /^[^=\0]+$/.test(String(raw)), "must be the name of a variable"),
  textOrEmpty(MOST_VALUE_BYTES),
);

export const resourceName: Read<string> = check(
  (raw) => typeof raw === "string" && isResourceName(raw),
  "must be up to 32 letters, digits, - and _, beginning with a letter",
);

export const resourceAmount: Read<number> = check(
  isResourceAmount,
  "must be a number above 0, at most 999999, with at most three decimals",
);

const gpu = object<GpuRequirement>({
  count: required(resourceAmount),
  memoryMb: required(amount(0, MOST_MEMORY_MB)),
  model: optional(text(MOST_NAME_BYTES)),
  memoryTotalMb: optional(amount(0, MOST_MEMORY_MB)),
  utilization: required(amount(0, 1.2)),
  isReserved: required(flag),
  listed: optional(
    list(
      check<ListedCard>(
        (raw) => (Number.isSafeInteger(raw) && Number(raw) >= 0) || /^[\w-]{1,80}$/.test(String(raw)),
        "must be the index of a card, or the beginning of its UUID",
      ),
      MOST_AMOUNTS,
    ),
  ),
});

const need = object<Requirement>({
  cpus: required(amount(0, 100_000)),
  memoryMb: required(amount(0, MOST_MEMORY_MB)),
  gpu: required(orNull(gpu)),
  reservesMachine: required(flag),
  resources: optional(map(resourceName, list(resourceAmount, MOST_AMOUNTS))),
});

const terms = object<NonNullable<JobAsk["terms"]>>({
  timeoutSeconds: optional(amount(0, 1e9)),
  retries: optional(whole(0, 1_000_000)),
  maxOutput: optional(
    orNull(
      check<OutputLimit>(
        isOutputLimit,
        'must be bytes with their text, as {"bytes": 1000000, "text": "1MB"}, or null',
      ),
    ),
  ),
  limitsMemory: optional(flag),
  wrap: optional(check<readonly string[]>(isWrap, "must be a list of words, the first of them not empty")),
  mergesOutput: optional(flag),
  // An empty directory has no hash.
  tree: optional(
    check<string>((raw) => typeof raw === "string" && /^[0-9a-f]{0,64}$/.test(raw), "must be a hash"),
  ),
  keepsDir: optional(flag),
  copyBack: optional(list(text(MOST_PATH_BYTES), MOST_ITEMS)),
  outFile: optional(absolutePath),
  resultsHere: optional(flag),
  notify: optional(text(MOST_VALUE_BYTES)),
  parameters: optional(map(text(MOST_NAME_BYTES), textOrEmpty(MOST_VALUE_BYTES))),
});

interface AnyDependency {
  readonly when: DependencyAsk["when"];
  readonly job?: number | string;
  readonly place?: number;
}

const anyDependency = object<AnyDependency>({
  when: required(oneOf(["succeeded", "ended", "failed"])),
  job: optional(
    check<number | string>(
      (raw) =>
        typeof raw === "string"
          ? raw !== "" && raw.length <= 255
          : Number.isSafeInteger(raw) && Number(raw) > 0,
      "must be the id of a job, or its name",
    ),
  ),
  place: optional(whole(0, MOST_JOBS - 1)),
});

const dependency: Read<DependencyAsk> = (raw, place) => {
  const asked = anyDependency(raw, place);
  if ((asked.job === undefined) === (asked.place === undefined))
    refuse(place, "must have either job or place");
  return asked as DependencyAsk;
};

const job = object<JobAsk>({
  command: required(text(MOST_COMMAND_BYTES)),
  words: optional(list(textOrEmpty(MOST_COMMAND_BYTES), MOST_ITEMS)),
  name: optional(text(MOST_NAME_BYTES)),
  cwd: optional(absolutePath),
  need: optional(need),
  priority: optional(priority),
  after: optional(list(dependency, MOST_ITEMS)),
  isHeld: optional(flag),
  terms: optional(terms),
  env: optional(variables),
});

export const enqueue = object<Enqueue>({
  queue: required(queueName),
  jobs: required(list(job, MOST_JOBS)),
  cwd: required(absolutePath),
  environment: optional(environment),
  key: optional(text(MOST_NAME_BYTES)),
});

const anyAct = object<Act>({
  verb: required(oneOf(JOB_VERBS)),
  queue: required(knownQueue),
  ids: required(jobIds),
  priority: optional(priority),
});

export const act: Read<Act> = (raw, place) => {
  const asked = anyAct(raw, place);
  if ((asked.verb === "priority") !== (asked.priority !== undefined))
    refuse(
      { ...place, where: "priority" },
      asked.verb === "priority" ? "is missing" : "only goes with the verb priority",
    );
  return asked;
};
