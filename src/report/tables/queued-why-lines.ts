// `sshoal why` for a job of a queue: what holds it back, or what each machine lacks.

import type { QueueJob } from "../../model/queue.js";
import type { WhyWaiting } from "../../model/why.js";
import { jsonLine } from "../lines/json-lines.js";
import { needWords } from "../text/need-words.js";
import { printable } from "../text/printable.js";
import { fitWidth } from "../text/width.js";
import { queuedJobLine } from "./queue-table.js";
import { whyLines } from "./why-lines.js";

export interface QueuedWhy {
  readonly job: QueueJob;
  /** From 1; null: it does not wait. */
  readonly place: number | null;
  /** Why it does not begin, whatever room there is. */
  readonly holds: readonly string[];
  /** Null: it does not wait for room. */
  readonly room: WhyWaiting | null;
}

/** Without their newlines. `columns`: rows are cut there. */
export function queuedWhyLines(why: QueuedWhy, columns: number): string[] {
  const { job, place, holds, room } = why;
  if (job.state !== "waiting") return [queuedJobLine(job)].map((line) => fitWidth(line, columns));
  const before = place === null || place === 1 ? [] : [placeWords(place - 1)];
  if (room === null) {
    const head = `${printable(job.queue)}/${job.id} waits: needs ${needWords(job.need)}`;
    return [head, ...holds.map(printable), ...before].map((line) => fitWidth(line, columns));
  }
  const label = `${job.queue}/${job.id}`;
  const { terms, command, state, need: requirement } = job;
  const { parameters } = terms;
  const about = { id: job.id, line: null, name: label, label, command, ...(parameters && { parameters }) };
  const waits = { kind: "waits", job: about, state, others: 0, requirement, ...room } as const;
  const lines = whyLines({ batch: "", stem: "", hold: null, jobs: [waits], more: 0 }, columns);
  return [...lines, ...before.map((line) => fitWidth(line, columns))];
}

function placeWords(before: number): string {
  return before === 1 ? "1 job of its queue starts before it" : `${before} jobs of its queue start before it`;
}

/** In the format that docs/json-events.md promises to keep. `lines`: as for people. */
export function queuedWhyJson(why: QueuedWhy): string {
  const { job, place, holds, room } = why;
  const { queue, id, state, need } = job;
  const lines = queuedWhyLines(why, Number.POSITIVE_INFINITY);
  const machines = room?.machines.map((each) =>
    "capacity" in each ? { ...each, capacity: undefined } : each,
  );
  const about = { job: `${queue}/${id}`, queue, id, state, need, place, holds };
  return jsonLine({ kind: "queue-why", ...about, ...(room && { ...room, machines }), lines });
}
