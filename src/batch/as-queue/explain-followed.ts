// Why a job of a followed batch waits: measured on its machines a moment ago, for the API.

import { hostname } from "node:os";
import path from "node:path";
import type { WaitingJob } from "../../api/queue-service.js";
import type { QueueJob } from "../../model/queue.js";
import { wordOf } from "../../model/standing.js";
import type { WhyWaiting } from "../../model/why.js";
import { explainJobs, waitingJobs } from "../why/explain-batch.js";
import { measureMachine } from "../why/measure-machine.js";
import type { FollowedBatch } from "./followed-batch.js";

export async function explainFollowed(job: QueueJob, followed: FollowedBatch): Promise<WaitingJob> {
  const { run, order, pid, connect, recent } = followed;
  const { state, batch } = run;
  if (job.state !== "waiting") return { job, place: null, holds: [], room: null };
  const { settings, machines, stem, results } = order();
  const jobs = [...state.jobs.values()].flatMap((tracked) => (tracked.traits.isGone ? [] : [tracked.job]));
  const holder = { pid, startedAt: "", host: hostname() };
  const dir = path.dirname(results.dir);
  const here = { batch, stem, dir, settings, jobs, state, holder, slots: new Map(), stuck: new Map() };
  const index = waitingJobs(here).findIndex(({ id }) => id === job.id);
  const place = index === -1 ? null : index + 1;
  const holds = [
    ...(state.isPaused ? [`the batch is paused: kill -USR2 ${pid} resumes it`] : []),
    ...(state.interrupted === "no" ? [] : ["the batch starts no more jobs"]),
    ...(state.held.has(job.id) && job.reason !== null ? [job.reason] : []),
  ];
  if (holds.length > 0) return { job, place, holds, room: null };
  const now = Date.now();
  const lostAt = new Map(
    recent.events.flatMap((event) => (event.kind === "machine-lost" ? [[event.machine, event.at]] : [])),
  );
  const measured = await Promise.all(
    machines.map((spec) => measureMachine(spec, here, { connect, lostAt, now })),
  );
  const tracked = state.jobs.get(job.id);
  if (tracked === undefined || wordOf(tracked) !== "waiting") return { job, place, holds, room: null };
  const explaining = { here, machines: measured, pausedPid: null, lastWordsOf: () => "", now };
  const [why] = explainJobs(explaining, [tracked.job]).jobs;
  return { job, place, holds, room: why?.kind === "waits" ? roomOf(why) : null };
}

function roomOf({ machines, next, change }: WhyWaiting): WhyWaiting {
  return { machines, next, change };
}
