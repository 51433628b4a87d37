// Measures the record of the service with 100,000 waiting jobs of 1,000 kinds: choosing the next job, adding one, and ending one.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { NewJob } from "../src/service/store/job-row.js";
import { openDatabase, type ServiceDatabase } from "../src/service/store/open-database.js";
import { waitForCalm } from "./calm.js";
import { formatSeconds, type Row } from "./report.js";

const JOBS = 100_000;
const FEW = 1000;
const KINDS = 1000;
const ROUNDS = 1000;
const QUEUE = "default";
const MOST_CHOICE_MS = 1;
/** A thousand times as many jobs as in an index of one page are a few pages more. */
const MOST_GROWTH = 3;

interface Times {
  /** In ms, the median. */
  readonly choose: number;
  readonly add: number;
  readonly end: number;
  /** The 99th percentile. */
  readonly slowChoice: number;
  /** From no job to all of them, in one transaction. */
  readonly fill: number;
}

export async function queueStore(): Promise<Row[]> {
  await waitForCalm();
  const few = await measure(FEW);
  const many = await measure(JOBS);
  const what = `${JOBS.toLocaleString("en")} waiting jobs of ${KINDS.toLocaleString("en")} kinds`;
  const growth = (key: "add" | "end"): Row => {
    const ratio = many[key] / few[key];
    return {
      what: `${what}: ${key === "add" ? "adding a job" : "starting and ending a job"}, without the commit`,
      ours: formatFine(many[key]),
      peer: `with ${FEW.toLocaleString("en")} jobs: ${formatFine(few[key])}`,
      ratio,
      goal: { text: `≤ ${MOST_GROWTH}×`, isMet: ratio <= MOST_GROWTH },
    };
  };
  return [
    {
      what: `${what}: giving a job and choosing the next one`,
      ours: formatFine(many.choose),
      peer: `with ${FEW.toLocaleString("en")} jobs: ${formatFine(few.choose)}`,
      ratio: many.choose / few.choose,
      goal: { text: "< 1 ms", isMet: many.choose < MOST_CHOICE_MS },
      note: `99 of 100 below ${formatFine(many.slowChoice)}`,
    },
    growth("add"),
    growth("end"),
    {
      what: `${JOBS.toLocaleString("en")} jobs: adding them in one transaction`,
      ours: formatSeconds(many.fill),
    },
  ];
}

function formatFine(ms: number): string {
  return `${ms.toFixed(3)} ms`;
}

async function measure(count: number): Promise<Times> {
  const dir = await mkdtemp(path.join(tmpdir(), "sshoal-record-"));
  const record = await openDatabase(dir);
  try {
    return play(record, count);
  } finally {
    record.close();
    await rm(dir, { recursive: true });
  }
}

function play({ queues, jobs, heads, transactions }: ServiceDatabase, count: number): Times {
  transactions.writeNow(() => queues.add(SPEC, null, 0));
  const [fill = 0] = timesOf(1, () =>
    transactions.writeNow(() => {
      const first = queues.takeIds(QUEUE, count);
      jobs.add(
        QUEUE,
        Array.from({ length: count }, (_, n) => aJob(first + n)),
      );
    }),
  );
  heads.of(QUEUE);
  const given: number[] = [];
  // The commit costs an fsync, which depends on the disk alone and is shared by many changes.
  return transactions.writeNow(() => {
    const choices = timesOf(ROUNDS, () => {
      const id = heads.of(QUEUE)[0]?.id ?? 0;
      jobs.give(QUEUE, [id], 1);
      given.push(id);
    });
    const adds = timesOf(ROUNDS, () => jobs.add(QUEUE, [aJob(queues.takeIds(QUEUE, 1))]));
    const ends = timesOf(ROUNDS, (n) => {
      const id = given[n] ?? 0;
      jobs.started(QUEUE, id, { machine: "box", got: {}, at: 1, attempt: 1 });
      jobs.ended(QUEUE, id, END);
    });
    return {
      choose: partOf(choices, 0.5),
      slowChoice: partOf(choices, 0.99),
      add: partOf(adds, 0.5),
      end: partOf(ends, 0.5),
      fill,
    };
  });
}

function timesOf(rounds: number, run: (round: number) => void): number[] {
  return Array.from({ length: rounds }, (_, round) => {
    const begun = performance.now();
    run(round);
    return performance.now() - begun;
  });
}

function partOf(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;
}

function aJob(id: number): NewJob {
  return {
    id,
    name: null,
    command: `python train.py --seed ${id} --out runs/${id}`,
    cwd: "/home/me/project",
    need: { cpus: 1, memoryMb: 1 + (id % KINDS), gpu: null, reservesMachine: false },
    priority: id % 7,
    after: [],
    terms: {},
    isHeld: false,
    environment: null,
    enqueuedAt: id,
    results: `/home/me/.local/state/sshoal/results/default/job/${id}`,
  };
}

const SPEC = {
  name: QUEUE,
  capacity: null,
  machines: [],
  cwd: null,
  prefix: [],
  envNames: [],
  maxJobs: null,
  ahead: null,
  notify: null,
};

const END = {
  state: "succeeded",
  at: 2,
  outcome: { kind: "exited", code: 0 },
  durationMs: 1,
  footprint: null,
  stderrTail: null,
  reason: null,
} as const;
