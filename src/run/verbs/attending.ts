// Watches a machine's part of the batch: keeps other clients away, and follows its log and its output.

import { parseAttemptKey } from "../../model/attempt-key.js";
import { mergesOutputOf } from "../../model/job.js";
import { RemoteError } from "../../remote/engine/remote-error.js";
import { readSpoolFormat } from "../../remote/spool/spool-format.js";
import type { OutputFiles } from "../home/output-files.js";
import type { Emit } from "../loop.js";
import { HeldError } from "./expected-error.js";
import { jobsOf, type Known } from "./known.js";
import type { MachineLink } from "./machine-link.js";
import { OutputPoller } from "./output-poller.js";
import { SpoolNews } from "./spool-news.js";
import type { Terms } from "./terms.js";

export interface AttendantParts {
  readonly terms: Pick<Terms, "client" | "stem" | "settings">;
  readonly known: Known;
  readonly outputs: OutputFiles;
}

/** Owns the timers that poll for output; call stop(). */
export class Attendant {
  readonly #parts: AttendantParts;
  readonly #pollers = new Map<string, OutputPoller>();
  readonly #news = new Map<string, SpoolNews>();

  constructor(parts: AttendantParts) {
    this.#parts = parts;
  }

  /** Resumes the batch on the machine. Verbs that were in progress when the connection broke are decided again afterwards. */
  async attend(link: MachineLink, emit: Emit): Promise<void> {
    link.noteSpool((await readSpoolFormat(link.session, link.place, link.signal)) !== null);
    if (link.hasSpool) {
      await this.hold(link);
      await this.#tellReturned(link, emit);
    }
    await this.#expectHeld(link, emit);
    if (!link.hasSpool) return;
    this.follow(link, emit);
    await (await link.control()).tend();
  }

  /** Allows one client at a time, also from several computers. The lock already excludes other clients of this directory. */
  async hold(link: MachineLink): Promise<void> {
    const control = await link.control();
    const holder = link.takeHolder() ?? (await control.hold(this.#parts.terms.client));
    if (holder.isOurs) {
      link.holderPid = holder.pid;
      return;
    }
    const hint = `end that client, or if it is gone: kill ${holder.pid} on ${holder.host ?? link.spec.name}`;
    throw new HeldError(`the batch is followed by ${holder.name}`, hint);
  }

  /** Call it while the first jobs are on their way, and `link.giveUpAhead()` if they do not arrive. */
  holdAhead(link: MachineLink): void {
    link.controlAhead(this.#parts.terms.client);
  }

  /** `awaitsSpool`: jobs are on their way to it. */
  follow(link: MachineLink, emit: Emit, awaitsSpool = false): void {
    const { known, outputs, terms } = this.#parts;
    const machine = link.spec.name;
    const poller = this.#pollers.get(machine) ?? new OutputPoller(link, outputs, emit);
    this.#pollers.set(machine, poller);
    const streamOf = (key: string) =>
      mergesOutputOf(known.jobOfKey(key), terms.settings) ? ("out" as const) : ("err" as const);
    const news = this.#news.get(machine) ?? new SpoolNews({ known, link, poller, emit }, streamOf);
    this.#news.set(machine, news);
    link.follow(news.take, awaitsSpool);
  }

  /** Undefined if nothing of the machine was ever followed. */
  pollerOf({ spec }: MachineLink): OutputPoller | undefined {
    return this.#pollers.get(spec.name);
  }

  stop(): void {
    for (const poller of this.#pollers.values()) poller.stop();
  }

  /** The client that took them back, or its connection, may have gone before the answer arrived. */
  async #tellReturned(link: MachineLink, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    const returned = (await (await link.control()).returned()).map(parseAttemptKey);
    const jobs = returned
      .filter(({ job, attempt }) => this.#parts.known.isUnderWay(machine, job, attempt))
      .map(({ job }) => job);
    if (jobs.length > 0) emit({ kind: "jobs-taken-back", machine, jobs, begun: [] });
  }

  /**
   * The spool may be gone, even if another client has made one of the same name since. Then no event of these jobs
   * would ever arrive.
   */
  async #expectHeld(link: MachineLink, emit: Emit): Promise<void> {
    const { terms, known } = this.#parts;
    const machine = link.spec.name;
    const held = known.heldBy(machine);
    if (held.length === 0) return;
    const absent = link.hasSpool ? await (await link.control()).absent(held) : held;
    if (absent.length < held.length) {
      if (absent.length > 0) emit({ kind: "jobs-gone", machine, jobs: jobsOf(absent) });
      return;
    }
    const record = `job_results/.sshoal/${terms.stem}.jsonl`;
    const hint = `another computer may have collected them, or ~/.sshoal was removed on it; to forget the batch: rm ${record}`;
    throw new RemoteError("it no longer has the jobs that were handed over", hint);
  }
}
