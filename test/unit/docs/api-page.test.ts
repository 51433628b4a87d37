// docs/api.md has every route and every field of the API, and no others, and its examples run.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { Health, MachineAct, ServiceDisk, WaitingJob } from "../../../src/api/queue-service.js";
import { ROUTES } from "../../../src/api/routes/all-routes.js";
import type { GpuRequirement, Requirement } from "../../../src/model/job.js";
import {
  type Act,
  type Acted,
  type DependencyAsk,
  type Enqueue,
  type Enqueued,
  JOB_VERBS,
  type JobAsk,
  type QueueSpec,
} from "../../../src/model/queue.js";
import { QUEUE_EVENT_KINDS, type QueueEvent } from "../../../src/model/queue-event.js";
import type { SentEntry, SentFiles } from "../../../src/model/sent-tree.js";
import { codeBlocks, readPage } from "../../rig/markdown.js";
import { anEvent, aQueueInfo, aQueueJob, aQueueMachine } from "../api/scripted-service.js";
import { useServed } from "../api/served.js";

const served = useServed();
const PAGE = readPage("docs/api.md");

const GPU: Required<GpuRequirement> = {
  count: 2.5,
  memoryMb: 1000,
  model: "A100|H100",
  memoryTotalMb: 40_000,
  utilization: 0.75,
  isReserved: true,
  listed: [0, "GPU-1f"],
};
const NEED: Required<Requirement> = {
  cpus: 1,
  memoryMb: 100,
  gpu: GPU,
  reservesMachine: false,
  resources: { licence: [1, 0.5] },
};
const TERMS: Required<NonNullable<JobAsk["terms"]>> = {
  timeoutSeconds: 60,
  retries: 1,
  maxOutput: { bytes: 1_000_000, text: "1MB" },
  limitsMemory: true,
  wrap: ["apptainer", "exec"],
  mergesOutput: true,
  tree: "0f343b09",
  keepsDir: true,
  copyBack: ["out"],
  outFile: "/home/ada/log",
  resultsHere: true,
  notify: "true",
  parameters: { lr: "0.1" },
};
const AFTER: readonly DependencyAsk[] = [
  { when: "succeeded", job: "prepare" },
  { when: "ended", place: 0 },
];
const JOB: Required<JobAsk> = {
  command: "true",
  words: ["true"],
  name: "train",
  cwd: "/home/ada",
  need: NEED,
  priority: -499,
  after: AFTER,
  isHeld: true,
  terms: TERMS,
  env: { TOKEN: "x" },
};
const ENQUEUE: Required<Enqueue> = {
  queue: "default",
  jobs: [JOB],
  cwd: "/home/ada",
  environment: { PATH: "/bin", "BASH_FUNC_f%%": "() { :; }" },
  key: "k",
};
const SPEC: Required<QueueSpec> = {
  joinedOnly: false,
  name: "night",
  capacity: { licence: { "0": 1 } },
  machines: ["gpu1"],
  cwd: null,
  prefix: [],
  envNames: ["TOKEN"],
  maxJobs: 3,
  ahead: 0,
  notify: null,
};
const ACT: Required<Act> = { verb: "priority", queue: "default", ids: [1], priority: 7 };
const MACHINE_ACT: MachineAct = { verb: "drain", queue: "default", machine: "gpu1" };
const EVENT: Required<QueueEvent> = { ...anEvent(1), job: 1, data: {} };
const HEALTH: Required<Health> = {
  pid: 1,
  version: "0.4.0",
  startedAt: 1,
  seq: 1,
  database: "queue.db",
  refuses: null,
  batch: "jobs.sh-4f1d2c9a",
};
const SENT: readonly SentEntry[] = [
  { type: "SymbolicLink", path: "a", mode: 0o777, mtime: 1, target: "b" },
  { type: "File", path: "b", mode: 0o644, mtime: 1, size: 0, sha256: "0".repeat(64) },
];
const ACTED: Required<Acted["jobs"][number]> = { id: 1, state: "removed", refused: "it is over" };
const WAITING: WaitingJob = { job: aQueueJob(), place: 1, holds: [], room: null };
const ENQUEUED: Enqueued = { queue: "default", ids: [1] };
const NEW_QUEUE = { spec: SPEC, env: { TOKEN: "x" } };
const { name, capacity, machines, cwd, prefix, envNames, maxJobs, ahead, notify, ...ofInfo } = aQueueInfo();

/** A new field of a type does not compile until it is here. */
const OBJECTS: Readonly<Record<string, object>> = {
  QueueEvent: EVENT,
  Health: HEALTH,
  State: { seq: 1, health: HEALTH, queues: [], machines: [], jobs: [] },
  QueueSpec: SPEC,
  NewQueue: NEW_QUEUE,
  QueueInfo: ofInfo,
  QueueMachine: aQueueMachine(),
  MachineAct: MACHINE_ACT,
  QueueJob: aQueueJob(),
  Requirement: NEED,
  GpuRequirement: GPU,
  Enqueue: ENQUEUE,
  JobAsk: JOB,
  DependencyAsk: Object.assign({}, ...AFTER),
  SentList: { entries: SENT },
  SentFiles: { entries: SENT, sent: [] } satisfies SentFiles,
  SentEntry: Object.assign({}, ...SENT),
  MissingFiles: { tree: "", missing: [] } satisfies Awaited<ReturnType<ServiceDisk["missing"]>>,
  JobTerms: TERMS,
  Enqueued: ENQUEUED,
  Act: ACT,
  Acted: ACTED,
  WaitingJob: WAITING,
};

/** The text below a heading, until the next one. */
function section(heading: string): string {
  return PAGE.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
}

function firstCells(text: string): string[] {
  return [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = ""]) => cell);
}

test("every route of the API is on the page, with its query, and no other", () => {
  const rows = [...section("Routes").matchAll(/^\| `([A-Z]+ [^`]+)` \|([^|]*)\|/gm)].map(
    ([, route, query = ""]) => `${route} ${[...query.matchAll(/`(\w+)`/g)].map(([, each]) => each).join()}`,
  );
  expect(rows.sort()).toEqual(
    ROUTES.map(({ method, path, query = [] }) => `${method} ${path} ${query.join()}`).sort(),
  );
});

test.each(Object.entries(OBJECTS))(
  "%s has the same fields on the page and in the program",
  (heading, object) => {
    expect(firstCells(section(heading)).sort()).toEqual(Object.keys(object).sort());
  },
);

test("each table of fields on the page is of an object that is compared", () => {
  const headings = PAGE.split(/^#+ /m)
    .filter((text) => text.includes("| field | meaning |"))
    .map((text) => text.split("\n")[0]);
  expect(headings.sort()).toEqual(Object.keys(OBJECTS).sort());
});

test("the state has the fields of the page", async () => {
  const { json } = await served.ask("GET", "/v1/state");
  expect(Object.keys(json).sort()).toEqual(firstCells(section("State")).sort());
});

test("requests with every field of the page are accepted", async () => {
  const requests = [
    ["/v1/jobs", ENQUEUE],
    ["/v1/queues", NEW_QUEUE],
    ["/v1/act", ACT],
    ["/v1/machines", MACHINE_ACT],
  ] as const;
  for (const [path, body] of requests) {
    const { status, text } = await served.ask("POST", path, body);
    expect([path, status, status === 200 ? "" : text]).toEqual([path, 200, ""]);
  }
  expect(served.service.asked.slice(0, 2)).toEqual([
    ["enqueue", ENQUEUE],
    ["createQueue", SPEC, NEW_QUEUE.env],
  ]);
});

test("kinds of events, verbs and metrics are all on the page", async () => {
  const kinds = /Kinds: ([^.]+)\./.exec(section("QueueEvent"))?.[1] ?? "";
  expect([...kinds.matchAll(/`([\w-]+)`/g)].map(([, kind]) => kind)).toEqual([...QUEUE_EVENT_KINDS]);
  for (const verb of JOB_VERBS) expect(section("Act")).toContain(`\`${verb}\``);
  const { text } = await served.ask("GET", "/metrics");
  const families = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, family]) => family);
  expect([...section("Metrics").matchAll(/`(sshoal_\w+)`/g)].map(([, family]) => family)).toEqual(families);
});

test("every status that the API answers with is on the page, and no other", () => {
  const rows = [...section("Errors").matchAll(/^\| (\d{3}) \|/gm)].map(([, status]) => status);
  const files = readdirSync("src/api", { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => file.endsWith(".ts") && !file.startsWith("readers"));
  const text = sources.map((file) => readFileSync(join("src/api", file), "utf8")).join("");
  expect(rows).toEqual([...new Set(text.match(/\b[45]0\d\b|\b4[12]\d\b/g))].sort());
});

describe("the examples", () => {
  const examples = codeBlocks(PAGE).filter(({ info }) => info.join(" ") === "sh");

  test.each(examples.map(({ line, text }) => [line, text] as const))("of line %i run", async (_, text) => {
    served.service.listed.push(aQueueJob({ state: "failed" }));
    served.service.logs = served.work.path("job");
    writeFileSync(served.work.path("job.out"), "hello\n");
    served.service.emit(anEvent(1));
    const env = { ...process.env, SOCKET: served.socket };
    const { stdout } = await promisify(execFile)("bash", ["-e", "-c", text], { env });
    expect(stdout).not.toBe("");
  });

  test("are there", () => expect(examples.length).toBeGreaterThan(4));
});
