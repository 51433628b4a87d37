// Gives jobs to a machine: the working directory first, once, then the jobs and the slots that take them.
// What is there of the directory is asked for before anybody knows whether the machine gets a job; if it is small, what is not
// is sent as well.

import type { News } from "../model/event.js";
import { attemptKey, kindOf, parseAttemptKey } from "../model/job.js";
import type { Slot } from "../model/machine.js";
import { deviceEnv } from "../plan/devices.js";
import { handOver } from "../remote/hand-over.js";
import { jobScript } from "../remote/job-script.js";
import type { Manifest } from "../remote/manifest.js";
import { needsOwnShell } from "../remote/own-shell.js";
import { stage } from "../remote/stage.js";
import type { Tree } from "../remote/tree.js";
import { unstage } from "../remote/unstage.js";
import { deferred } from "../transport/deferred.js";
import type { Session } from "../transport/session.js";
import { refuse } from "./expected-error.js";
import { warnOfSize } from "./large-tree.js";
import type { Emit } from "./loop.js";
import type { MachineLink } from "./machine-link.js";
import { jobOf, keysOf, type RunContext } from "./run-context.js";

/** A tree that was there may be cleaned away by others once nobody has used it for ten minutes. */
const ANSWER_COUNTS_MS = 60_000;

/** Not worth waiting for the word, which comes later than it takes. */
const SMALL_BYTES = 1 << 20;

/** Fits into one packet, with the question whether it is there. */
const TINY_ARCHIVE = 24 << 10;
const BLOCKS_BYTES = 1024;

/** A staging that waits for the word to go ahead, before it sends anything or at least before it tells of it. */
interface Prepared {
  readonly at: number;
  hasFailed: boolean;
  readonly isSent: Promise<boolean>;
  readonly goAhead: () => void;
  readonly cancel: AbortController;
}

export class Giver {
  readonly #context: RunContext;
  readonly #prepared = new WeakMap<Session, Prepared>();
  /** Machines that have what this run gives them beside jobs. */
  readonly #furnished = new Set<string>();
  #isTreeTold = false;
  #isSizeTold = false;

  constructor(context: RunContext) {
    this.#context = context;
  }

  /** Resolves with the lines there was no room for; rejects with a Refusal when none could be taken. */
  async handOver(
    link: MachineLink,
    lines: readonly number[],
    slots: readonly Slot[],
    emit: Emit,
  ): Promise<number[]> {
    const { inPlace, requirement, copiesUnchanged, timeoutSeconds, batch, env, jobEnv } = this.#context;
    const { spec, place, signal } = link;
    const tree = await this.#context.tree;
    if (!link.isStaged) await this.#stage(link, tree, emit).catch((error) => refuse(lines, error));
    const places = slots.map((slot) => ({ slot, env: deviceEnv(slot, slot.requirement ?? requirement) }));
    const jobs = lines.map((line) => {
      const job = jobOf(this.#context, line);
      return {
        key: attemptKey(line, this.#context.attemptOn(spec.name, line)),
        script: jobScript(job, spec, batch, jobEnv?.get(line) ?? env),
        needsOwnShell: spec.setup.length > 0 || needsOwnShell(job.command),
        timeoutSeconds: job.timeoutSeconds,
        kind: kindOf(job.requirement),
      };
    });
    const manifest = this.#manifest(link, lines, slots);
    const settings = { copiesUnchanged, timeoutSeconds, inPlace };
    const isFurnished = this.#furnished.has(spec.name);
    const order = { place, tree, requirement, settings, slots: places, isFurnished, jobs, manifest, signal };
    const answer = await handOver(link.session, order).catch((error) => refuse(lines, error));
    const missing = answer.map((key) => parseAttemptKey(key).line);
    link.noteSpool(true);
    this.#furnished.add(spec.name);
    const arrived = lines.filter((line) => !missing.includes(line));
    emit({ kind: "jobs-handed-over", machine: spec.name, lines: arrived });
    return missing;
  }

  #manifest(link: MachineLink, lines: readonly number[], slots: readonly Slot[]): Manifest {
    const { script, settings } = this.#context;
    const keys = keysOf(this.#context, link, lines);
    const jobs = new Map(keys.map((key, index) => [key, jobOf(this.#context, lines[index] ?? 0)]));
    return { script, settings, slots, jobs };
  }

  /** Asks the machine what it has of the tree, and sends no more than a little. */
  prepare(link: MachineLink, emit: Emit): Prepared {
    const { session, place } = link;
    const cancel = new AbortController();
    const signal = AbortSignal.any([link.signal, cancel.signal]);
    const { promise: goAhead, resolve } = deferred<void>();
    const untold: News[] = [];
    let tell: Emit = (news) => untold.push(news);
    const isSent = this.#context.tree.then((tree) => {
      if (tree.hash === "") return false;
      if (tree.bytes <= SMALL_BYTES) resolve();
      const onProgress = this.#progressOf(link, tree, (news) => tell(news));
      const isTiny = tree.bytes + tree.entries.length * BLOCKS_BYTES <= TINY_ARCHIVE;
      return stage(session, { place, tree, signal, goAhead, isTiny, onProgress });
    });
    const proceed = () => {
      tell = emit;
      for (const news of untold) emit(news);
      resolve();
    };
    const prepared: Prepared = { at: performance.now(), hasFailed: false, isSent, goAhead: proceed, cancel };
    isSent.catch(() => {
      prepared.hasFailed = true; // heard when jobs are handed over, if ever
    });
    this.#prepared.set(session, prepared);
    return prepared;
  }

  /** The machine gets no job: what it was sent in advance goes. If it does not, it goes one day, as other trees do. */
  async withdraw({ session, place, signal }: MachineLink): Promise<void> {
    const prepared = this.#takePrepared(session);
    const tree = await this.#context.tree;
    if (prepared === null || tree.bytes > SMALL_BYTES) return;
    const isSent = await prepared.isSent.catch(() => false);
    if (isSent) await unstage(session, { place, tree, signal }).catch(() => undefined);
  }

  async #stage(link: MachineLink, tree: Tree, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    this.#tellTree(tree, emit);
    const { goAhead, isSent } = this.#takePrepared(link.session) ?? this.prepare(link, emit);
    goAhead();
    if (!(await isSent) && tree.hash !== "") emit({ kind: "staging", machine, sentBytes: 0, totalBytes: 0 });
    link.isStaged = true;
    emit({ kind: "staged", machine });
  }

  /** Once: should it fail, the next time begins anew. So it does if it failed while nobody waited for it. */
  #takePrepared(session: Session): Prepared | null {
    const prepared = this.#prepared.get(session);
    this.#prepared.delete(session);
    if (prepared === undefined) return null;
    if (!prepared.hasFailed && performance.now() - prepared.at < ANSWER_COUNTS_MS) return prepared;
    prepared.cancel.abort();
    return null;
  }

  #progressOf(link: MachineLink, tree: Tree, emit: Emit): (sentBytes: number, totalBytes: number) => void {
    let told = 0;
    return (sentBytes, totalBytes) => {
      if (sentBytes === 0) this.#tellSize(tree, totalBytes, emit);
      else if (sentBytes < totalBytes && sentBytes - told < 1 << 20) return;
      told = sentBytes;
      emit({ kind: "staging", machine: link.spec.name, sentBytes, totalBytes });
    };
  }

  #tellTree({ entries, bytes, leftOut }: Tree, emit: Emit): void {
    if (this.#context.inPlace !== null) return;
    const files = entries.filter(({ type }) => type !== "Directory").length;
    if (!this.#isTreeTold) emit({ kind: "tree-read", files, bytes, leftOut });
    this.#isTreeTold = true;
  }

  #tellSize(tree: Tree, totalBytes: number, emit: Emit): void {
    const message = this.#isSizeTold ? null : warnOfSize(tree, totalBytes);
    if (message === null) return;
    this.#isSizeTold = true;
    emit({ kind: "warning", message });
  }
}
