// Collects results from a machine into job_results/, in as few streams as possible.

import path from "node:path";
import pLimit from "p-limit";
import { LinkLost } from "../../fleet/link.js";
import { isRetryable, pause } from "../../fleet/retrying.js";
import { parseAttemptKey } from "../../model/attempt-key.js";
import type { Rest } from "../../model/decision.js";
import { type JobId, mergesOutputOf, type Outcome } from "../../model/job.js";
import { type Collected, collect } from "../../remote/results/collect.js";
import { putAside } from "../../remote/results/put-aside.js";
import { RENAMED } from "../../remote/results/unpack.js";
import { weigh } from "../../remote/results/weigh.js";
import { isOfThisDisk } from "../home/disk-error.js";
import type { Home } from "../home/home.js";
import type { Emit } from "../loop.js";
import { progressTeller } from "./collecting-progress.js";
import { isExpected } from "./expected-error.js";
import type { Known } from "./known.js";
import type { MachineLink } from "./machine-link.js";
import type { OutputPoller } from "./output-poller.js";
import type { ResultsAhead } from "./results-ahead.js";
import type { Terms } from "./terms.js";

const DISK_RETRY_MS = 5000;
const UNTOLD: Outcome = { kind: "lost", reason: "the machine did not report how it ended" };

export interface CollectorParts {
  readonly terms: Pick<Terms, "batch" | "settings">;
  readonly known: Known;
  readonly home: Home;
  readonly ahead: ResultsAhead;
}

export class Collector {
  readonly #parts: CollectorParts;
  /** Two attempts of one job may be collected at once. The second one must see that the first is in place. */
  readonly #oneByOne = pLimit(1);
  #warned = "";

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  async collect(
    link: MachineLink,
    jobs: readonly JobId[],
    poller: OutputPoller | undefined,
    emit: Emit,
  ): Promise<void> {
    const keys = this.#parts.known.keys(link.spec.name, jobs);
    try {
      await poller?.finish(keys);
      await this.#collectTogether(link, keys, emit);
    } catch (error) {
      if (isOfThisDisk(error)) return this.#waitForRoom(link, error, emit);
      if (isRetryable(error) || !isExpected(error)) throw error;
      // One bad job must not block the others of the same archive.
      if (keys.length > 1) for (const id of jobs) await this.collect(link, [id], poller, emit);
      else this.#tellStuck(link, keys[0] ?? "", error.message, emit);
    }
  }

  async #collectTogether(link: MachineLink, keys: readonly string[], emit: Emit): Promise<void> {
    const { terms, home } = this.#parts;
    const { results, outputs, commit } = home;
    const { copyBack, exclude = [] } = terms.settings;
    const { place, session, signal, spec } = link;
    await putAside(session, { place, keys, exclude, signal });
    const incoming = await results.makeIncoming(terms.batch);
    try {
      const jobs = keys.map((key) => ({
        key,
        streams: outputs.untouched(key),
        copyBack: this.#parts.known.jobOfKey(key).copyBack,
      }));
      const asked = { place, jobs, copyBack, signal };
      const onProgress = progressTeller({ machine: spec.name, weigh: () => weigh(session, asked), emit });
      const begun = await this.#parts.ahead.take(link, keys);
      const collected = await collect(session, { ...asked, into: incoming.dir, onProgress }, begun);
      this.#warnOf(collected, emit);
      const arrived = keys.map(parseAttemptKey);
      const missing = missingByJob(collected);
      commit({
        kind: "jobs-arrived",
        machine: spec.name,
        jobs: arrived.map(({ job }) => job),
        attempts: arrived.map(({ attempt }) => attempt),
        ...(missing !== null && { missing }),
      });
      await this.#placeAll(link, keys, collected, incoming.dir, emit);
    } finally {
      await incoming.remove();
    }
  }

  /**
   * Reports results in place even if the disk is full before the rest. Otherwise they would later be placed a second
   * time.
   */
  async #placeAll(
    link: MachineLink,
    keys: readonly string[],
    { outcomes, written, missing: allMissing }: Collected,
    incoming: string,
    emit: Emit,
  ): Promise<void> {
    const placed: { readonly key: string; readonly beside: string | null }[] = [];
    try {
      await this.#oneByOne(async () => {
        for (const key of keys) {
          placed.push({ key, beside: await this.#place(link, key, outcomes.get(key), incoming) });
        }
      });
    } finally {
      await this.#parts.home.results.sync(placed.map(({ key }) => this.#parts.known.jobOfKey(key).name));
      for (const { key, beside } of placed) {
        const { files = 0, bytes = 0 } = written.get(key) ?? {};
        const about = parseAttemptKey(key);
        const logged = this.#parts.known.outcomeOf(link.spec.name, about.job, about.attempt);
        const outcome = logged ?? outcomes.get(key) ?? UNTOLD;
        const missing = allMissing.get(key);
        const came = { outcome, files, bytes, ...(missing && { missing }), ...(beside && { beside }) };
        const machine = link.spec.name;
        const footprint = this.#parts.known.footprintOf(machine, about.job, about.attempt);
        emit({ kind: "job-collected", ...about, machine, ...came, ...(footprint && { footprint }) });
      }
    }
    for (const { key } of placed) await this.#prune(key, emit);
  }

  /** Results are home, whether or not earlier ones can be removed. */
  async #prune(key: string, emit: Emit): Promise<void> {
    const { known, home } = this.#parts;
    const { name } = known.jobOfKey(key);
    await home.pruner
      ?.prune(name, (old) => known.isNeeded(old))
      .catch((error: Error) => {
        const message = `earlier results of ${name} could not be removed: ${error.message}`;
        emit({ kind: "warning", message });
      });
  }

  /** Resolves with its name if another result is in place. */
  async #place(link: MachineLink, key: string, outcome = UNTOLD, incoming: string): Promise<string | null> {
    const { terms, known, home } = this.#parts;
    const { results, outputs } = home;
    const { job: id, attempt } = parseAttemptKey(key);
    const job = known.job(id);
    const { name } = job;
    // If another machine has the job by now, the files of a lost attempt are not its result.
    const isLeftover = outcome.kind === "lost" && known.isSuperseded(link.spec.name, id, attempt);
    const isBeside = results.has(name) || isLeftover;
    await outputs.end(key, isBeside ? null : name);
    if (!isBeside) outputs.join(key, name, path.join(incoming, key));
    const placed = results.place(
      name,
      path.join(incoming, key),
      isBeside,
      mergesOutputOf(job, terms.settings),
    );
    await outputs.tellRest(key, !isBeside);
    return isBeside ? placed : null;
  }

  /** One at a time: if the rest of one attempt cannot be collected, the next one is still requested. */
  async collectRests(link: MachineLink, rests: readonly Rest[], emit: Emit): Promise<void> {
    for (const rest of rests) {
      try {
        await this.#collectRest(link, rest, emit);
      } catch (error) {
        if (!isOfThisDisk(error) && !isExpected(error)) throw error;
        if (link.isLost) throw new LinkLost();
        const { name } = this.#parts.known.job(rest.job);
        const message = `missing results of ${name} stay on ${link.spec.name}: ${error.message}`;
        emit({ kind: "warning", message });
      }
    }
  }

  async #collectRest(link: MachineLink, rest: Rest, emit: Emit): Promise<void> {
    const { terms, known, home } = this.#parts;
    const { results } = home;
    const { copyBack } = terms.settings;
    const { place, session, signal, spec } = link;
    const { job: id, attempt, key, isInPlace } = rest;
    const { name } = known.job(id);
    const about = { kind: "rest-collected", job: id, attempt, machine: spec.name } as const;
    if (!link.hasSpool) {
      emit({ kind: "warning", message: `missing results of ${name} are no longer on ${spec.name}` });
      return emit({ ...about, files: 0, bytes: 0, missing: [] });
    }
    const incoming = await results.makeIncoming(terms.batch);
    try {
      const jobs = [{ key, streams: [], only: rest.missing }];
      const collected = await collect(session, { place, jobs, copyBack, signal, into: incoming.dir });
      this.#warnOf(collected, emit);
      await this.#oneByOne(async () => {
        results.placeRest(name, path.join(incoming.dir, key), isInPlace);
        await results.sync([name]);
      });
      const { files = 0, bytes = 0 } = collected.written.get(key) ?? {};
      emit({ ...about, files, bytes, missing: collected.missing.get(key) ?? [] });
    } finally {
      await incoming.remove();
    }
  }

  #warnOf({ leftOut, renamed }: Collected, emit: Emit): void {
    for (const what of leftOut) emit({ kind: "warning", message: `left out: ${what}` });
    for (const [key, count] of renamed) {
      const { name } = this.#parts.known.jobOfKey(key);
      const message = `${name}: the local disk does not accept ${count} of its file names; ${RENAMED} in its results lists the new names`;
      emit({ kind: "warning", message });
    }
  }

  #tellStuck(link: MachineLink, key: string, reason: string, emit: Emit): void {
    if (link.isLost) throw new LinkLost();
    emit({ kind: "job-stuck", ...parseAttemptKey(key), machine: link.spec.name, reason });
  }

  /** The machine has freed nothing: once the local disk has room, the same results are collected again. */
  async #waitForRoom(link: MachineLink, error: Error, emit: Emit): Promise<void> {
    const message = `cannot write results on this computer: ${error.message}; retrying`;
    if (this.#warned !== message) emit({ kind: "warning", message });
    this.#warned = message;
    await pause(DISK_RETRY_MS, link.signal);
  }
}

function missingByJob({ missing }: Collected): Record<number, readonly string[]> | null {
  if (missing.size === 0) return null;
  return Object.fromEntries([...missing].map(([key, paths]) => [parseAttemptKey(key).job, paths]));
}
