// Runs the commands of --notify: of a job when it has ended or is skipped, and of a queue when it has become empty.

import { describeOutcome, type JobId } from "../../model/job.js";
import type { QueueJob } from "../../model/queue.js";
import type { QueueEvent } from "../../model/queue-event.js";
import { runLocalCommand } from "../../run/home/local-command.js";
import type { Ledger } from "../ledger.js";
import type { House } from "../queue/generation-order.js";
import type { ServiceDatabase } from "../store/open-database.js";

const LIMIT_MS = 30_000;
/** Thousands of jobs can end at the same moment, as when they are stopped. */
const MOST_AT_ONCE = 8;

export class JobNotices {
  readonly #db: ServiceDatabase;
  readonly #ledger: Ledger;
  readonly #house: House;
  readonly #lastEnded = new Map<string, JobId>();
  readonly #due: (() => Promise<void>)[] = [];
  #running = 0;

  constructor(db: ServiceDatabase, ledger: Ledger, house: House) {
    this.#db = db;
    this.#ledger = ledger;
    this.#house = house;
  }

  note({ kind, queue, job: id }: QueueEvent): void {
    if ((kind === "job-ended" || kind === "job-skipped") && id !== undefined) {
      if (kind === "job-ended") this.#lastEnded.set(queue, id);
      const job = this.#db.jobs.find(queue, id);
      if (job?.terms.notify !== undefined) this.#add(job.terms.notify, job, "ended");
    }
    if (kind === "queue-empty") this.#noteEmpty(queue);
  }

  #noteEmpty(queue: string): void {
    const line = this.#db.queues.find(queue)?.notify ?? null;
    const last = this.#lastEnded.get(queue);
    const job = line === null || last === undefined ? null : this.#db.jobs.find(queue, last);
    if (line !== null && job !== null) this.#add(line, job, "empty");
  }

  #add(line: string, job: QueueJob, event: "ended" | "empty"): void {
    this.#due.push(() => this.#run(line, job, event));
    this.#next();
  }

  #next(): void {
    if (this.#running === MOST_AT_ONCE) return;
    const run = this.#due.shift();
    if (run === undefined) return;
    this.#running++;
    void run().finally(() => {
      this.#running--;
      this.#next();
    });
  }

  /** Never rejects: a command that fails is a warning. */
  async #run(line: string, job: QueueJob, event: "ended" | "empty"): Promise<void> {
    const { homeDir } = this.#house.surroundings;
    const env = { ...process.env, ...factsOf(job, event) };
    const { signal } = new AbortController();
    const { problem } = await runLocalCommand({ line, cwd: homeDir, env, limitMs: LIMIT_MS, signal });
    if (problem === null) return;
    const message = `the command of --notify failed for ${job.queue}/${job.id}: ${problem}`;
    this.#ledger.record((tell) =>
      tell({ kind: "warning", queue: job.queue, job: job.id, data: { message } }),
    );
  }
}

function factsOf(
  { queue, id, name, state, outcome, results }: QueueJob,
  event: string,
): Record<string, string> {
  return {
    SSHOAL_EVENT: event,
    SSHOAL_QUEUE: queue,
    SSHOAL_JOB: `${queue}/${id}`,
    SSHOAL_NAME: name ?? "",
    SSHOAL_STATE: state,
    SSHOAL_OUTCOME: outcome === null ? "" : describeOutcome(outcome),
    SSHOAL_RESULTS: results,
    SSHOAL_SUMMARY: `${queue}/${id}${name === null ? "" : ` ${name}`} ${state}`,
  };
}
