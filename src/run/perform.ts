// One decision -> one remote verb -> events. A lost link is no failure here: the link tells of it itself.

import path from "node:path";
import type { BatchSettings } from "../model/batch.js";
import { attemptKey, type Job, parseAttemptKey, type Requirement } from "../model/job.js";
import type { Capacity, MachineSpec, Slot } from "../model/machine.js";
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
import type { Session } from "../transport/session.js";
import { isOfThisDisk } from "./disk-error.js";
import type { Emit, News } from "./loop.js";
import { type Connect, LinkLost, MachineLink } from "./machine-link.js";
import type { OutputFiles } from "./output-files.js";
import { OutputPoller } from "./output-poller.js";
import type { Results } from "./results.js";
import { isRetryable, pause, retrying } from "./retrying.js";

export interface RunContext {
  readonly batch: string;
  /** Who we are to other clients of the batch: user@computer:directory. */
  readonly client: string;
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
  /** Whether there is a later attempt of this line. */
  readonly isSuperseded: (line: number, attempt: number) => boolean;
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
  /** Identity to name, of the machines that were reached. */
  readonly #identities = new Map<string, string>();
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
    const losses = link.watchLosses();
    try {
      await this.#do(decision, link, emit);
    } catch (error) {
      if (link.signal.aborted || (await losses.hasLost())) return;
      if (!isExpected(error)) throw error;
      this.#tellFailure(decision, error, emit);
    }
  };

  #tellFailure(decision: Decision, error: ExpectedError, emit: Emit): void {
    const { machine } = decision;
    const why = { machine, reason: error.message, hint: error.hint };
    if (error instanceof Refusal) return emit({ kind: "machine-refused", lines: error.lines, ...why });
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
        return this.#connect(link, decision.resumes, emit);
      case "reconnect":
        return this.#reconnect(link, decision.resumes, emit);
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
        return link.hasSpool ? (await link.control()).free(decision.keys) : undefined;
      case "take-back":
        return this.#takeBack(link, decision.lines, emit);
      case "stop":
        return void (await (await link.control()).stop(this.#keys(link, decision.lines)));
      case "finish":
        return this.#finish(link, decision.cleans, emit);
      default:
        return decision satisfies never;
    }
  }

  /** A machine that cannot be reached is left out, unless jobs of ours may be there. */
  async #connect(link: MachineLink, resumes: boolean, emit: Emit): Promise<void> {
    try {
      await this.#open(link, emit);
    } catch (error) {
      if (!resumes || !isRetryable(error)) throw error;
      return emit({ kind: "machine-lost", machine: link.spec.name, reason: error.message });
    }
    await this.#greet(link, resumes, emit);
  }

  /** For as long as it takes; only what needs a person ends it. */
  async #reconnect(link: MachineLink, resumes: boolean, emit: Emit): Promise<void> {
    await retrying(link.signal, () => this.#open(link, emit));
    await this.#greet(link, resumes, emit);
  }

  #open(link: MachineLink, emit: Emit): Promise<Session> {
    return link.open((reason) => emit({ kind: "machine-lost", machine: link.spec.name, reason }));
  }

  async #greet(link: MachineLink, resumes: boolean, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    if (this.#slots.has(machine)) {
      if (resumes) await this.#attend(link, emit);
      return tellWhile(link, emit, { kind: "machine-back", machine });
    }
    const options = { bases: ["~/.sshoal"], exceptBatch: this.#context.batch };
    const capacity = await probe(link.session, options, link.signal);
    this.#refuseTwin(machine, capacity);
    if (resumes) await this.#attend(link, emit);
    const slots = this.#chooseSlots(link.spec, capacity, resumes);
    if (typeof slots === "string") {
      emit({ kind: "machine-failed", machine, reason: slots, hint: null });
      return link.close();
    }
    tellWhile(link, emit, { kind: "machine-ready", machine, capacity, slots });
    this.#slots.set(machine, slots);
  }

  /** Two names for one machine would share a spool there, and count its room twice. */
  #refuseTwin(machine: string, { identity }: Capacity): void {
    const twin = this.#identities.get(identity);
    if (twin !== undefined && twin !== machine) throw new RemoteError(`it is the same machine as ${twin}`);
    if (identity !== "") this.#identities.set(identity, machine);
  }

  /** Or why there are none. Those of jobs that are there already are as they were: these use up what a plan is made of. */
  #chooseSlots(spec: MachineSpec, capacity: Capacity, resumes: boolean): readonly Slot[] | string {
    const { requirement, pastSlots } = this.#context;
    const past = resumes ? pastSlots.get(spec.name) : undefined;
    if (past !== undefined) return past;
    const plan = planSlots({ spec, capacity, requirement });
    if (plan.slots.length > 0) return plan.slots;
    return explainShortages({ capacity, requirement, plan }).join("; ");
  }

  /** Picks up what is there. What was under way when the link went is decided anew afterwards. */
  async #attend(link: MachineLink, emit: Emit): Promise<void> {
    link.hasSpool = await hasSpool(link.session, link.place, link.signal);
    if (link.hasSpool) {
      await this.#hold(link);
      await this.#tellReturned(link, emit);
      this.#follow(link, emit);
      await (await link.control()).tend();
    } else if (this.#context.isHolding(link.spec.name)) {
      const hint =
        "another computer may have fetched it, or ~/.sshoal was removed there; rm -r job_results/.sshoal forgets the batch";
      throw new RemoteError("what was handed over is not there any more", hint);
    }
  }

  /** One client at a time, also of several computers; of this directory there is no other, which the lock sees to. */
  async #hold(link: MachineLink): Promise<void> {
    const holder = await (await link.control()).hold(this.#context.client);
    if (holder.isOurs) {
      link.holderPid = holder.pid;
      return;
    }
    const hint = `end it there, or if it is gone: kill ${holder.pid} on ${link.spec.name}`;
    throw new RemoteError(`the batch is followed by ${holder.name}`, hint);
  }

  /** The client that took them back, or its link, may have gone before the answer came. */
  async #tellReturned(link: MachineLink, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    const returned = (await (await link.control()).returned()).map(parseAttemptKey);
    const lines = returned
      .filter(({ line, attempt }) => this.#context.isUnderWay(machine, line, attempt))
      .map(({ line }) => line);
    if (lines.length > 0) emit({ kind: "jobs-taken-back", machine, lines, begun: [] });
  }

  async #handOver(link: MachineLink, lines: readonly number[], emit: Emit): Promise<void> {
    const { tree, requirement, copiesUnchanged, timeoutSeconds, batch, env } = this.#context;
    const { spec, place, signal } = link;
    if (!link.isStaged) await this.#stage(link, emit).catch((error) => refuse(lines, error));
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
    const order = { place, tree, requirement, settings, slots, jobs, manifest, signal };
    const answer = await handOver(link.session, order).catch((error) => refuse(lines, error));
    const missing = answer.map((key) => parseAttemptKey(key).line);
    link.hasSpool = true;
    const arrived = lines.filter((line) => !missing.includes(line));
    emit({ kind: "jobs-handed-over", machine: spec.name, lines: arrived });
    await this.#hold(link);
    this.#follow(link, emit);
    if (missing.length > 0) refuse(missing, new RemoteError("there was no room for them"));
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
      case "halting":
        if (event.holder === this.#links.get(machine)?.holderPid) emit({ kind: "interrupted", mode: "stop" });
        return;
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
    const { results, outputs, copyBack, commit, isSuperseded } = this.#context;
    const { place, session, signal, spec } = link;
    const incoming = await results.makeIncoming(this.#context.batch);
    try {
      const jobs = keys.map((key) => ({ key, streams: outputs.untouched(key) }));
      const collected = await collect(session, { place, jobs, copyBack, into: incoming.dir, signal });
      for (const what of collected.leftOut) emit({ kind: "warning", message: `left out: ${what}` });
      const arrived = keys.map(parseAttemptKey);
      commit({
        kind: "jobs-arrived",
        machine: spec.name,
        lines: arrived.map(({ line }) => line),
        attempts: arrived.map(({ attempt }) => attempt),
      });
      for (const key of keys) {
        const { line, attempt } = parseAttemptKey(key);
        const { name } = this.#job(line);
        const { files = 0, bytes = 0 } = collected.written.get(key) ?? {};
        const outcome = collected.outcomes.get(key) ?? {
          kind: "lost",
          reason: "it does not say how it ended",
        };
        // Of a job that is tried elsewhere by now, what went down with a machine is not the result.
        const isBeside = results.has(name) || (outcome.kind === "lost" && isSuperseded(line, attempt));
        await outputs.end(key, isBeside ? null : name);
        await results.place(name, path.join(incoming.dir, key), isBeside);
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
    const taken = new Set(link.hasSpool ? await (await link.control()).takeBack(keys) : keys);
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

/** The machine could not take these lines: nothing of them is there, and others may have them. */
class Refusal extends RemoteError {
  readonly lines: readonly number[];

  constructor(lines: readonly number[], { message, hint }: ExpectedError) {
    super(message, hint);
    this.lines = lines;
  }
}

function refuse(lines: readonly number[], error: unknown): never {
  throw isExpected(error) ? new Refusal(lines, error) : error;
}

/** Not after the link was lost again: that it stands would be heard after that it fell. */
function tellWhile(link: MachineLink, emit: Emit, news: News): void {
  if (link.isLost) throw new LinkLost();
  link.proveUseful();
  emit(news);
}

type ExpectedError = Error & { readonly hint: string | null };

/** Errors that tell what a machine did wrong carry a hint; anything else is our bug. */
function isExpected(error: unknown): error is ExpectedError {
  return error instanceof Error && "hint" in error;
}
