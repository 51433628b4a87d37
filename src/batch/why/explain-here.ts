// The use case of `why`: measures the machines of batches of this directory, then explains their jobs.

import type { Job } from "../../model/job.js";
import type { WhyBatch } from "../../model/why.js";
import type { Results } from "../../run/home/results.js";
import type { Connector } from "../connector.js";
import type { BatchHere } from "../find/batches-here.js";
import { askRecent } from "../follower/ask-recent.js";
import { loadLastWords } from "../output/last-words.js";
import type { Surroundings } from "../surroundings.js";
import { explainAllWaiting, explainJobs } from "./explain-batch.js";
import { measureMachines } from "./measure-machines.js";

export interface WhyMeans {
  readonly results: Results;
  readonly surroundings: Surroundings;
  readonly connect: Connector;
  readonly now: number;
}

/** `jobs`: null: all that wait. */
export async function explainHere(
  here: BatchHere,
  jobs: readonly Job[] | null,
  { results, surroundings, connect, now }: WhyMeans,
): Promise<WhyBatch> {
  const recent = here.holder === null ? [] : await askRecent(results, here.stem);
  const lostAt = new Map(
    recent.flatMap((event) => (event.kind === "machine-lost" ? [[event.machine, event.at] as const] : [])),
  );
  const machines = await measureMachines(here, { surroundings, connect, lostAt, now });
  const explaining = {
    here,
    machines,
    pausedPid: recent.find((event) => event.kind === "paused")?.pid ?? null,
    lastWordsOf: ({ name }: Job) => loadLastWords(results, name),
    now,
  };
  return jobs === null ? explainAllWaiting(explaining) : explainJobs(explaining, jobs);
}
