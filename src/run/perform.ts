// One decision -> one remote verb -> events. A lost link is no failure here: the link tells of it itself.

import path from "node:path";
import type { BatchSettings } from "../model/batch.js";
import { attemptKey, type Job, parseAttemptKey, type Requirement } from "../model/job.js";
import type { MachineSpec, Slot } from "../model/machine.js";
import type { Decision } from "../plan/decide.js";
import { deviceEnv } from "../plan/devices.js";
import { explainShortages } from "../plan/explain.js";
import { planSlots } from "../plan/slots.js";
import { hasSpool } from "../remote/attach.js";
import { clean } from "../remote/clean.js";
import { collect } from "../remote/collect.js";
import { handOver } from "../remote/hand-over.js";
import { jobScript } from "../remote/job-script.js";
import type { Manifest } from "../remote/manifest.js";
import { probe } from "../remote/probe.js";
import { RemoteError } from "../remote/remote-error.js";
import type { SpoolEvent } from "../remote/spool-event.js";
import { stage } from "../remote/stage.js";
import type { Tree } from "../remote/tree.js";
import type { Emit } from "./loop.js";
import { type Connect, LinkLost, MachineLink } from "./machine-link.js";
import type { OutputFiles } from "./output-files.js";
import { OutputPoller } from "./output-poller.js";
import type { Results } from "./results.js";
import { pause, retrying } from "./retrying.js";

export interface RunContext {
  readonly batch: string;
  readonly jobs: ReadonlyMap<number, Job>;
  readonly machines: readonly MachineSpec[];
  readonly script: string;
  readonly settings: BatchSettings;
  readonly requirement: Requirement;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number | null;
  readonly tree: Tree;
  /** Relative to a job's directory. */
  readonly copyBack: readonly string[];
  readonly copiesUnchanged: boolean;
  readonly results: Results;
  readonly outputs: OutputFiles;
  /** Which attempt of a line a machine has; the line's last one where it has none. */
  readonly attemptOn: (machine: string, line: number) => number;
  /** Whether this attempt is the one that counts, and its results are not here yet. */
  readonly isUnderWay: (machine: string, line: number, attempt: number) => boolean;
  /** Of machines that an earlier client gave jobs to. */
  readonly pastSlots: ReadonlyMap<string, readonly Slot[]>;
  /** Whether the machine was given jobs that are not back. */
  readonly isHolding: (machine: string) => boolean;
  /** Emits, and returns once it is safe in the record. */
  readonly commit: Emit;
  readonly connect: Connect;
}

const DISK_RETRY_MS = 5000;

/** Owns the links to all machines; close() them when the run is over, however it went. */
export class Performer {
  readonly #context: RunContext;
  readonly #links: ReadonlyMap<string, MachineLink>;
  readonly #slots = new Map<string, readonly Slot[]>();
  readonly #pollers = new Map<string, OutputPoller>();
  #warned = "";
  #isTreeTold = false;

  constructor(context: RunContext) {
    this.#context = context;
    this.#links = new Map(
      context.machines.map((spec) => {
        const place = { batch: context.batch, scratch: spec.scratch };
        return [spec.name, new MachineLink(spec, place, context.connect)];
      }),
    );
  }

  /** Never rejects for what a machine did; that is an event. */
  readonly perform = async (decision: Decision, emit: Emit): Promise<void> => {
    const link = this.#links.get(decision.machine);
    if (link === undefined) throw new Error(`no link to ${decision.machine}`);
    const loss = link.whenLost();
    try {
      await this.#do(decision, link, emit);
    } catch (error) {
      if (link.signal.aborted || (await loss.hasHappened())) return;
      if (!isExpected(error)) throw error;
      this.#tellFailure(decision, error, emit);
    }
  };

  #tellFailure(decision: Decision, error: ExpectedError, emit: Emit): void {
    const { machine } = decision;
    const why = { machine, reason: error.message, hint: error.hint };
    if (decision.kind === "hand-over")
      return emit({ kind: "machine-refused", lines: decision.lines, ...why });
    emit({ kind: "machine-failed", ...why });
    void this.#links.get(machine)?.close();
  }

  async close(): Promise<void> {
    for (const poller of this.#pollers.values()) poller.stop();
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }

  async #do(decision: Decision, link: MachineLink, emit: Emit): Promise<void> {
    switch (decision.kind) {
      case "connect":
        return decision.resumes ? this.#resume(link, emit) : this.#connect(link, emit);
      case "reconnect":
        return this.#reconnect(link, emit);
      case "assign":
        return emit({ kind: "jobs-assigned", machine: decision.machine, lines: decision.lines });
      case "give-up":
        return emit({ kind: "jobs-reassigned", machine: decision.machine, lines: decision.lines });
      case "retry":
        return this.#retry(link, decision.lines, emit);
      case "hand-over":
        return this.#handOver(link, decision.lines, emit);
      case "collect":
        return this.#collect(link, decision.lines, emit);
      case "free":
        return (await link.control()).free(decision.keys);
      case "take-back":
        return this.#takeBack(link, decision.lines, emit);
      case "stop":
        return (await link.control()).stop(this.#keys(link, decision.lines));
      case "finish":
        return this.#finish(link, decision.cleans, emit);
      default:
        return decision satisfies never;
    }
  }

  async #connect(link: MachineLink, emit: Emit): Promise<void> {
    const { spec } = link;
    const { requirement, batch } = this.#context;
    const session = await link.open((reason) => emit({ kind: "machine-lost", machine: spec.name, reason }));
    const capacity = await probe(session, { bases: ["~/.sshoal"], exceptBatch: batch }, link.signal);
    const plan = planSlots({ spec, capacity, requirement });
    if (plan.slots.length === 0) {
      const reason = explainShortages({ capacity, requirement, plan }).join("; ");
      emit({ kind: "machine-failed", machine: spec.name, reason, hint: null });
      return link.close();
    }
    this.#slots.set(spec.name, plan.slots);
    emit({ kind: "machine-ready", machine: spec.name, capacity, slots: plan.slots });
  }

  /** Its slots are as they were: the jobs that run there use up what a new plan would be made of. */
  async #resume(link: MachineLink, emit: Emit): Promise<void> {
    const { name } = link.spec;
    const session = await retrying(link.signal, () =>
      link.open((reason) => emit({ kind: "machine-lost", machine: name, reason })),
    );
    const isThere = await hasSpool(session, link.place, link.signal);
    if (!isThere && this.#context.isHolding(name)) {
      throw new RemoteError(
        "what was handed over is not there any more",
        "was its ~/.sshoal removed? delete the results to run the jobs again",
      );
    }
    const capacity = await probe(
      session,
      { bases: ["~/.sshoal"], exceptBatch: this.#context.batch },
      link.signal,
    );
    const slots = this.#context.pastSlots.get(name) ?? [];
    this.#slots.set(name, slots);
    emit({ kind: "machine-ready", machine: name, capacity, slots });
    if (!isThere) return;
    this.#follow(link, emit);
    await (await link.control()).tend();
  }

  /** For as long as it takes; only what needs a person ends it. What was under way is decided anew afterwards. */
  async #reconnect(link: MachineLink, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    await retrying(link.signal, () => link.open((reason) => emit({ kind: "machine-lost", machine, reason })));
    emit({ kind: "machine-back", machine });
    this.#follow(link, emit);
    await (await link.control()).tend();
  }

  async #handOver(link: MachineLink, lines: readonly number[], emit: Emit): Promise<void> {
    const { tree, requirement, copiesUnchanged, timeoutSeconds, batch, env } = this.#context;
    const { spec, place, signal } = link;
    if (!link.isStaged) await this.#stage(link, emit);
    const slots = (this.#slots.get(spec.name) ?? []).map((slot) => ({
      slot,
      env: deviceEnv(slot, requirement),
    }));
    const jobs = lines.map((line) => ({
      key: attemptKey(line, this.#context.attemptOn(spec.name, line)),
      script: jobScript(this.#job(line), spec, batch, env),
    }));
    const manifest = this.#manifest(link, lines);
    const settings = { copiesUnchanged, timeoutSeconds };
    await handOver(link.session, { place, tree, requirement, settings, slots, jobs, manifest, signal });
    emit({ kind: "jobs-handed-over", machine: spec.name, lines });
    this.#follow(link, emit);
  }

  #manifest(link: MachineLink, lines: readonly number[]): Manifest {
    const { script, settings } = this.#context;
    const keys = this.#keys(link, lines);
    const jobs = new Map(keys.map((key, index) => [key, this.#job(lines[index] ?? 0)]));
    return { script, settings, slots: this.#slots.get(link.spec.name) ?? [], jobs };
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
        onProgress: (sentBytes) => {
          if (sentBytes < tree.bytes && sentBytes - told < 1 << 20) return;
          told = sentBytes;
          emit({ kind: "staging", machine, sentBytes, totalBytes: tree.bytes });
        },
      });
      if (!isSent) emit({ kind: "staging", machine, sentBytes: 0, totalBytes: 0 });
    }
    link.isStaged = true;
    emit({ kind: "staged", machine });
  }

  #tellTree(emit: Emit): void {
    const { entries, bytes, leftOut } = this.#context.tree;
    const files = entries.filter(({ type }) => type !== "Directory").length;
    if (!this.#isTreeTold) emit({ kind: "tree-read", files, bytes, leftOut });
    this.#isTreeTold = true;
  }

  #follow(link: MachineLink, emit: Emit): void {
    const machine = link.spec.name;
    const poller = this.#pollers.get(machine) ?? new OutputPoller(link, this.#context.outputs, emit);
    this.#pollers.set(machine, poller);
    link.follow((event) => this.#tell(machine, poller, event, emit));
  }

  #tell(machine: string, poller: OutputPoller, event: SpoolEvent, emit: Emit): void {
    switch (event.kind) {
      case "started": {
        const { line, attempt } = parseAttemptKey(event.key);
        if (!this.#context.isUnderWay(machine, line, attempt)) return;
        poller.watch(event.key, this.#job(line).name);
        return emit({ kind: "job-started", line, attempt, machine, slot: event.slot });
      }
      case "ended": {
        const { line, attempt } = parseAttemptKey(event.key);
        if (!this.#context.isUnderWay(machine, line, attempt)) return;
        const { outcome, durationMs } = event;
        return emit({ kind: "job-ended", line, attempt, machine, outcome, durationMs });
      }
      case "waiting":
        return emit({ kind: "slot-waiting", machine, slot: event.slot, reason: event.reason });
      case "draining":
        return emit({ kind: "machine-draining", machine });
      case "opened":
        return emit({ kind: "machine-opened", machine });
      case "idle":
      case "freed":
        return;
      default:
        return event satisfies never;
    }
  }

  async #collect(link: MachineLink, lines: readonly number[], emit: Emit): Promise<void> {
    const keys = this.#keys(link, lines);
    try {
      await this.#pollers.get(link.spec.name)?.finish(keys);
      await this.#collectTogether(link, keys, emit);
    } catch (error) {
      if (isOfThisDisk(error)) return this.#waitForRoom(link, error, emit);
      if (!isExpected(error)) throw error;
      // One bad job must not hold up the others that came with it.
      if (keys.length > 1) for (const line of lines) await this.#collect(link, [line], emit);
      else this.#tellStuck(link, keys[0] ?? "", error.message, emit);
    }
  }

  async #collectTogether(link: MachineLink, keys: readonly string[], emit: Emit): Promise<void> {
    const { results, outputs, copyBack, commit } = this.#context;
    const { place, session, signal, spec } = link;
    const incoming = await results.makeIncoming();
    try {
      const jobs = keys.map((key) => ({ key, streams: outputs.untouched(key) }));
      const collected = await collect(session, { place, jobs, copyBack, into: incoming.dir, signal });
      for (const what of collected.leftOut) emit({ kind: "warning", message: `left out: ${what}` });
      commit({
        kind: "jobs-arrived",
        machine: spec.name,
        lines: keys.map((key) => parseAttemptKey(key).line),
      });
      for (const key of keys) {
        const { line, attempt } = parseAttemptKey(key);
        await outputs.end(key);
        await results.place(this.#job(line).name, path.join(incoming.dir, key));
        const { files = 0, bytes = 0 } = collected.written.get(key) ?? {};
        const outcome = collected.outcomes.get(key) ?? {
          kind: "lost",
          reason: "it does not say how it ended",
        };
        emit({ kind: "job-collected", line, attempt, machine: spec.name, outcome, files, bytes });
      }
    } finally {
      await incoming.remove();
    }
  }

  #tellStuck(link: MachineLink, key: string, reason: string, emit: Emit): void {
    if (link.isLost) throw new LinkLost();
    emit({ kind: "job-stuck", ...parseAttemptKey(key), machine: link.spec.name, reason });
  }

  /** Nothing was freed over there: once there is room here, the same is collected again. */
  async #waitForRoom(link: MachineLink, error: Error, emit: Emit): Promise<void> {
    const message = `results cannot be written here: ${error.message}; trying again until they can`;
    if (this.#warned !== message) emit({ kind: "warning", message });
    this.#warned = message;
    await pause(DISK_RETRY_MS, link.signal);
  }

  async #takeBack(link: MachineLink, lines: readonly number[], emit: Emit): Promise<void> {
    const keys = this.#keys(link, lines);
    const taken = new Set(await (await link.control()).takeBack(keys));
    const linesOf = (some: readonly string[]) => some.map((key) => parseAttemptKey(key).line);
    emit({
      kind: "jobs-taken-back",
      machine: link.spec.name,
      lines: linesOf(keys.filter((key) => taken.has(key))),
      begun: linesOf(keys.filter((key) => !taken.has(key))),
    });
  }

  async #retry(link: MachineLink, lines: readonly number[], emit: Emit): Promise<void> {
    for (const line of lines) this.#context.results.moveAside(this.#job(line).name);
    emit({ kind: "jobs-retried", machine: link.spec.name, lines });
  }

  async #finish(link: MachineLink, cleans: boolean, emit: Emit): Promise<void> {
    this.#pollers.get(link.spec.name)?.stop();
    if (cleans) await clean(link.session, link.place, link.signal);
    await link.close();
    emit({ kind: "machine-done", machine: link.spec.name });
  }

  #keys(link: MachineLink, lines: readonly number[]): string[] {
    return lines.map((line) => attemptKey(line, this.#context.attemptOn(link.spec.name, line)));
  }

  #job(line: number): Job {
    const job = this.#context.jobs.get(line);
    if (job === undefined) throw new Error(`no job on line ${line}`);
    return job;
  }
}

function isOfThisDisk(error: unknown): error is NodeJS.ErrnoException {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EIO", "EMFILE", "ENOENT"].includes(code);
}

type ExpectedError = Error & { readonly hint: string | null };

/** Errors that tell what a machine did wrong carry a hint; anything else is our bug. */
function isExpected(error: unknown): error is ExpectedError {
  return error instanceof Error && "hint" in error;
}
