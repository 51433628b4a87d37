// Gives jobs to a machine: the working directory first, once, then the jobs and the slots that take them.

import { attemptKey, kindOf, parseAttemptKey } from "../model/job.js";
import type { Slot } from "../model/machine.js";
import { deviceEnv } from "../plan/devices.js";
import { handOver } from "../remote/hand-over.js";
import { jobScript } from "../remote/job-script.js";
import type { Manifest } from "../remote/manifest.js";
import { stage } from "../remote/stage.js";
import { refuse } from "./expected-error.js";
import { warnOfSize } from "./large-tree.js";
import type { Emit } from "./loop.js";
import type { MachineLink } from "./machine-link.js";
import { jobOf, keysOf, type RunContext } from "./run-context.js";

export class Giver {
  readonly #context: RunContext;
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
    const { tree, inPlace, requirement, copiesUnchanged, timeoutSeconds, batch, env, jobEnv } = this.#context;
    const { spec, place, signal } = link;
    if (!link.isStaged) await this.#stage(link, emit).catch((error) => refuse(lines, error));
    const places = slots.map((slot) => ({ slot, env: deviceEnv(slot, slot.requirement ?? requirement) }));
    const jobs = lines.map((line) => {
      const job = jobOf(this.#context, line);
      return {
        key: attemptKey(line, this.#context.attemptOn(spec.name, line)),
        script: jobScript(job, spec, batch, jobEnv?.get(line) ?? env),
        timeoutSeconds: job.timeoutSeconds,
        kind: kindOf(job.requirement),
      };
    });
    const manifest = this.#manifest(link, lines, slots);
    const settings = { copiesUnchanged, timeoutSeconds, inPlace };
    const order = { place, tree, requirement, settings, slots: places, jobs, manifest, signal };
    const answer = await handOver(link.session, order).catch((error) => refuse(lines, error));
    const missing = answer.map((key) => parseAttemptKey(key).line);
    link.noteSpool(true);
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

  async #stage(link: MachineLink, emit: Emit): Promise<void> {
    const { tree } = this.#context;
    const machine = link.spec.name;
    this.#tellTree(emit);
    if (tree.hash !== "") {
      let told = 0;
      const isSent = await stage(link.session, {
        place: link.place,
        tree,
        signal: link.signal,
        onProgress: (sentBytes, totalBytes) => {
          if (sentBytes === 0) this.#tellSize(totalBytes, emit);
          else if (sentBytes < totalBytes && sentBytes - told < 1 << 20) return;
          told = sentBytes;
          emit({ kind: "staging", machine, sentBytes, totalBytes });
        },
      });
      if (!isSent) emit({ kind: "staging", machine, sentBytes: 0, totalBytes: 0 });
    }
    link.isStaged = true;
    emit({ kind: "staged", machine });
  }

  #tellTree(emit: Emit): void {
    const { inPlace, tree } = this.#context;
    if (inPlace !== null) return;
    const { entries, bytes, leftOut } = tree;
    const files = entries.filter(({ type }) => type !== "Directory").length;
    if (!this.#isTreeTold) emit({ kind: "tree-read", files, bytes, leftOut });
    this.#isTreeTold = true;
  }

  #tellSize(totalBytes: number, emit: Emit): void {
    const message = this.#isSizeTold ? null : warnOfSize(this.#context.tree, totalBytes);
    if (message === null) return;
    this.#isSizeTold = true;
    emit({ kind: "warning", message });
  }
}
