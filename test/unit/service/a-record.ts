// A record of the service in a temporary directory, and jobs for it.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { NewJob } from "../../../src/service/store/job-row.js";
import {
  type DatabaseOptions,
  openDatabase,
  type ServiceDatabase,
} from "../../../src/service/store/open-database.js";
import { aNewJob, aQueue } from "./new-job.js";

export function aDir(): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), "sshoal-service-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** With the queue `default`. */
export async function aRecord(options: DatabaseOptions = {}, dir = aDir()): Promise<ServiceDatabase> {
  const record = await openDatabase(dir, options);
  onTestFinished(() => record.close());
  record.transactions.writeNow(() => record.queues.add(aQueue(), null, 1000));
  return record;
}

/** Adds jobs with the next ids; returns these. */
export function addJobs(
  { queues, jobs, transactions }: ServiceDatabase,
  overs: readonly Partial<NewJob>[],
  queue = "default",
): number[] {
  return transactions.writeNow(() => {
    const first = queues.takeIds(queue, overs.length);
    jobs.add(
      queue,
      overs.map((over, n) => aNewJob(first + n, over)),
    );
    return overs.map((_, n) => first + n);
  });
}

export const SUCCEEDED = {
  state: "succeeded",
  at: 5000,
  outcome: { kind: "exited", code: 0 },
  durationMs: 3000,
  footprint: null,
  stderrTail: null,
  reason: null,
} as const;
