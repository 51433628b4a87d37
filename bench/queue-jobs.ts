// Jobs that are written into the record of a service directly, because a million of them take too long otherwise.

import type { NewJob } from "../src/service/store/job-row.js";
import type { ServiceDatabase } from "../src/service/store/open-database.js";

/** The queue that gets them. */
export const FILLED = "filled";
const AT_ONCE = 10_000;

interface Filling {
  readonly count: number;
  readonly command: string;
  readonly cwd: string;
  readonly isPaused: boolean;
  /** They have succeeded; otherwise they wait. */
  readonly areOver: boolean;
}

export function fillQueue(db: ServiceDatabase, { count, command, cwd, isPaused, areOver }: Filling): void {
  const { queues, jobs, transactions } = db;
  transactions.writeNow(() => {
    queues.add(SPEC, null, Date.now());
    queues.setPaused(FILLED, isPaused);
  });
  for (let done = 0; done < count; done += AT_ONCE)
    transactions.writeNow(() => {
      const first = queues.takeIds(FILLED, AT_ONCE);
      const ids = Array.from({ length: AT_ONCE }, (_, place) => first + place);
      jobs.add(
        FILLED,
        ids.map((id) => aJob(id, command, cwd)),
      );
      if (areOver) for (const id of ids) jobs.ended(FILLED, id, END);
    });
}

function aJob(id: number, command: string, cwd: string): NewJob {
  return {
    id,
    name: null,
    command,
    cwd,
    need: { cpus: 1, memoryMb: 0, gpu: null, reservesMachine: false },
    priority: 0,
    after: [],
    terms: {},
    isHeld: false,
    environment: null,
    enqueuedAt: Date.now(),
    results: `${cwd}/results/${id}`,
  };
}

const SPEC = {
  name: FILLED,
  capacity: null,
  machines: [],
  cwd: null,
  prefix: [],
  envNames: [],
  maxJobs: 1,
  ahead: null,
  notify: null,
};

const END = {
  state: "succeeded",
  at: Date.now(),
  outcome: { kind: "exited", code: 0 },
  durationMs: 1,
  footprint: null,
  stderrTail: null,
  reason: null,
} as const;
