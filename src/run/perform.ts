// One decision -> one remote verb -> events. A lost link is no failure here: the link tells of it itself.

import { LinkLost } from "../fleet/link.js";
import { isRetryable, pause, retrying, wasDropped } from "../fleet/retrying.js";
import { parseAttemptKey } from "../model/attempt-key.js";
import type { Decision } from "../model/decision.js";
import type { News } from "../model/event.js";
import type { JobId } from "../model/job.js";
import type { Capacity, MachineSpec, Slot } from "../model/machine.js";
import { explainShortages } from "../plan/slots/explain.js";
import { type KindsPlan, mustKnowCpuUse, planKinds } from "../plan/slots/kinds.js";
import { isAtProcessLimit, PROCESS_LIMIT_HINT, RemoteError } from "../remote/engine/remote-error.js";
import { probe } from "../remote/probe/probe.js";
import { clean, type Remains } from "../remote/spool/clean-spool.js";
import { NothingArrived } from "../remote/spool/hand-over.js";
import { hasSpool } from "../remote/spool/has-spool.js";
import type { Session } from "../transport/session.js";
import { Collector } from "./collecting.js";
import { type ExpectedError, HeldError, isExpected } from "./expected-error.js";
import { Giver } from "./giving.js";
import type { Emit } from "./loop.js";
import { MachineLink } from "./machine-link.js";
import { OutputPoller } from "./output-poller.js";
import { jobOf, jobsOf, keysOf, linesOfKind, type RunContext } from "./run-context.js";
import { settleDoubt, takeBack } from "./taking-back.js";
import { tellSpoolEvent } from "./telling.js";
import { warnOfLogout } from "./warn-of-logout.js";

const MEASURE_AGAIN_MS = 5000;
const LOGIN_TRIES = 3;
const VAIN_SESSIONS = 6;
const ASK_AGAIN_MS = 1000;

type HandOver = Extract<Decision, { kind: "hand-over" }>;

interface FailedHandOver {
  readonly jobs: readonly JobId[];
  /** Of the jobs: those that may be there all the same. */
  readonly doubted: readonly number[];
  readonly error: ExpectedError;
}

/** Owns the links to all machines; close() them when the run is over, however it went. */
export class Performer {
  readonly #context: RunContext;
  readonly #links: ReadonlyMap<string, MachineLink>;
  readonly #slots = new Map<string, readonly Slot[]>();
  readonly #pollers = new Map<string, OutputPoller>();
  /** Identity to name, of the machines that were reached. */
  readonly #identities = new Map<string, string>();
  readonly #collector: Collector;
  readonly #giver: Giver;

  constructor(context: RunContext) {
    this.#context = context;
    this.#collector = new Collector(context);
    this.#giver = new Giver(context);
    this.#links = new Map(
      context.machines.map((spec) => {
        const place = { batch: context.batch, scratch: spec.scratch };
        return [spec.name, new MachineLink(spec, place, context.fleet)];
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
      // As a lost link: what is there stays there, and is asked for again.
      const isNew = decision.kind === "connect" && !decision.resumes;
      if (isRetryable(error) && !isNew) return link.drop(error.message);
      this.#tellFailure(decision, error, emit);
    }
  };

  #tellFailure(decision: Decision, error: ExpectedError, emit: Emit): void {
    const { machine } = decision;
    const why = { machine, reason: error.message, hint: error.hint };
    emit({ kind: "machine-failed", ...why, ...(error instanceof HeldError && { isHeld: true }) });
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
      case "retry":
        return this.#retry(link, decision.jobs, emit);
      case "hand-over":
        return this.#handOver(link, decision, emit);
      case "collect":
        return this.#collect(link, decision.jobs, emit);
      case "collect-rest":
        return this.#collector.collectRests(link, decision.rests, emit);
      case "free":
        return link.hasSpool ? (await link.control()).free(decision.keys) : undefined;
      case "take-back":
        return this.#takeBack(link, decision.jobs, emit);
      case "stop":
        return void (await (await link.control()).stop(keysOf(this.#context, link, decision.jobs)));
      case "finish":
        return this.#finish(link, decision.cleans, emit);
      default:
        return decision satisfies never;
    }
  }

  /** A machine that cannot be reached is left out, unless jobs of ours may be there. */
  async #connect(link: MachineLink, resumes: boolean, emit: Emit): Promise<void> {
    const mayBeTaken = (error: unknown, tries: number) => wasDropped(error) && tries < LOGIN_TRIES;
    try {
      await retrying(link.signal, () => this.#open(link, emit), mayBeTaken);
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
    const machine = link.spec.name;
    return link.open((reason) => {
      emit({ kind: "machine-lost", machine, reason });
      // It is back each time, and gone when a process is to start: others get what waits there.
      if (link.dropsInRow !== VAIN_SESSIONS || !isAtProcessLimit(reason)) return;
      emit({ kind: "machine-refused", machine, jobs: [], reason, hint: PROCESS_LIMIT_HINT });
    });
  }

  async #greet(link: MachineLink, resumes: boolean, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    if (this.#slots.has(machine)) {
      if (resumes) await this.#attend(link, emit);
      return tellWhile(link, emit, { kind: "machine-back", machine });
    }
    // With an earlier client's jobs there, channels may be few and nothing may be left to give.
    if (!resumes) this.#giver.prepare(link, emit);
    const capacity = await this.#measure(link);
    this.#refuseTwin(machine, capacity);
    if (resumes) await this.#attend(link, emit);
    const { slots, short } = this.#chooseSlots(link.spec, capacity, resumes);
    if (slots.length === 0) {
      const reason = [...new Set(short.flatMap((kind) => explainShortages({ capacity, ...kind })))].join(
        "; ",
      );
      await this.#giver.withdraw(link);
      emit({ kind: "machine-failed", machine, reason, hint: null });
      return link.close();
    }
    if (this.#context.requirement.gpu?.listed !== undefined && capacity.gpus.length === 0) {
      const message = `${machine}: no card can be seen there; jobs are told to use those of --gpus all the same`;
      emit({ kind: "warning", message });
    }
    const warning = warnOfLogout(machine, capacity);
    if (warning !== null) emit({ kind: "warning", message: warning });
    link.usesScopes = capacity.logout === "scope";
    for (const { kind, ...why } of short) {
      const reasons = explainShortages({ capacity, ...why }).join("; ");
      const message = `${machine} has no room for ${linesOfKind(this.#context, kind)}: ${reasons}`;
      emit({ kind: "warning", message });
    }
    // To hand over, to follow, to control, and for the first results.
    link.session.makeReady?.(4);
    tellWhile(link, emit, { kind: "machine-ready", machine, capacity, slots });
    this.#slots.set(machine, slots);
  }

  /** Until the working directory is read nothing can be given to it; if that takes long, what it has is measured again. */
  async #measure(link: MachineLink): Promise<Capacity> {
    const { tree, batch } = this.#context;
    const options = { bases: ["~/.sshoal"], exceptBatch: batch };
    const isQuick = !mustKnowCpuUse({ ...this.#context, spec: link.spec }, this.#context.mostJobs);
    const begunAt = performance.now();
    const capacity = await probe(link.session, { ...options, isQuick }, link.signal);
    await tree;
    const isRecent = performance.now() - begunAt < MEASURE_AGAIN_MS;
    // What others have claimed is weighed against how busy they are.
    const isEnough = !isQuick || (capacity.cpus !== null && capacity.claims.length === 0);
    return isRecent && isEnough ? capacity : probe(link.session, options, link.signal);
  }

  /** Two names for one machine would share a spool there, and count its room twice. */
  #refuseTwin(machine: string, { identity }: Capacity): void {
    const twin = this.#identities.get(identity);
    if (twin !== undefined && twin !== machine) throw new RemoteError(`it is the same machine as ${twin}`);
    if (identity !== "") this.#identities.set(identity, machine);
  }

  /** Those of jobs that are there already are as they were: these use up what a plan is made of. */
  #chooseSlots(spec: MachineSpec, capacity: Capacity, resumes: boolean): KindsPlan {
    const { requirement, kinds, pastSlots } = this.#context;
    const past = resumes ? pastSlots.get(spec.name) : undefined;
    return planKinds({ spec, capacity, requirement, kinds, ...(past && { past }) });
  }

  /** Picks up what is there. What was under way when the link went is decided anew afterwards. */
  async #attend(link: MachineLink, emit: Emit): Promise<void> {
    link.noteSpool(await hasSpool(link.session, link.place, link.signal));
    if (link.hasSpool) {
      await this.#hold(link);
      await this.#tellReturned(link, emit);
    }
    await this.#expectHeld(link, emit);
    if (!link.hasSpool) return;
    this.#follow(link, emit);
    await (await link.control()).tend();
  }

  /** The spool may be gone, also if another client has made one of the same name since: nothing would ever be heard of the jobs. */
  async #expectHeld(link: MachineLink, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    const held = keysOf(this.#context, link, this.#context.heldBy(machine));
    if (held.length === 0) return;
    const absent = link.hasSpool ? await (await link.control()).absent(held) : held;
    if (absent.length < held.length) {
      if (absent.length > 0) emit({ kind: "jobs-gone", machine, jobs: jobsOf(absent) });
      return;
    }
    const [job] = this.#context.jobs.values();
    const record = `job_results/.sshoal/${job?.name.replace(/\.\d+$/, "")}.jsonl`;
    const hint = `another computer may have fetched it, or ~/.sshoal was removed there; rm ${record} forgets the batch`;
    throw new RemoteError("what was handed over is not there any more", hint);
  }

  /** One client at a time, also of several computers; of this directory there is no other, which the lock sees to. */
  async #hold(link: MachineLink): Promise<void> {
    const holder = await (await link.control()).hold(this.#context.client);
    if (holder.isOurs) {
      link.holderPid = holder.pid;
      return;
    }
    const hint = `end it there, or if it is gone: kill ${holder.pid} on ${holder.host ?? link.spec.name}`;
    throw new HeldError(`the batch is followed by ${holder.name}`, hint);
  }

  /** The client that took them back, or its link, may have gone before the answer came. */
  async #tellReturned(link: MachineLink, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    const returned = (await (await link.control()).returned()).map(parseAttemptKey);
    const jobs = returned
      .filter(({ job, attempt }) => this.#context.isUnderWay(machine, job, attempt))
      .map(({ job }) => job);
    if (jobs.length > 0) emit({ kind: "jobs-taken-back", machine, jobs, begun: [] });
  }

  async #handOver(link: MachineLink, { jobs, again = [] }: HandOver, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    const losses = link.watchLosses();
    let leftOut: Awaited<ReturnType<Giver["handOver"]>>;
    try {
      leftOut = await this.#giver.handOver(link, jobs, this.#slots.get(machine) ?? [], emit);
    } catch (error) {
      if (!isExpected(error) || (await losses.hasLost())) throw error;
      const doubted = error instanceof NothingArrived ? again : jobs;
      return this.#refuse(link, { jobs, doubted, error }, emit);
    }
    const { missing, taken } = leftOut;
    if (taken.length > 0) emit({ kind: "jobs-taken-back", machine, jobs: taken, begun: [] });
    this.#follow(link, emit);
    await this.#hold(link);
    if (missing.length === 0) return;
    const doubted = missing.filter((id) => again.includes(id));
    const error = new RemoteError("there was no room for them");
    await this.#refuse(link, { jobs: missing, doubted, error }, emit);
  }

  /** Others get what is not there. What was begun stays, and what may be there is taken back first. */
  async #refuse(link: MachineLink, { jobs, doubted, error }: FailedHandOver, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    const settling = { jobs: doubted, error, emit };
    const { taken, begun } =
      doubted.length === 0 ? { taken: [], begun: [] } : await settleDoubt(this.#context, link, settling);
    const absent = [...jobs.filter((id) => !doubted.includes(id)), ...taken];
    emit({ kind: "machine-refused", machine, jobs: absent, reason: error.message, hint: error.hint });
    // What the record says of a machine is forgotten with the client, what it says of jobs is not.
    emit({ kind: "jobs-taken-back", machine, jobs: absent, begun });
    if (begun.length === 0) return;
    link.noteSpool(true);
    emit({ kind: "jobs-handed-over", machine, jobs: begun });
    this.#follow(link, emit);
    await this.#hold(link);
  }

  #follow(link: MachineLink, emit: Emit): void {
    const machine = link.spec.name;
    const poller = this.#pollers.get(machine) ?? new OutputPoller(link, this.#context.outputs, emit);
    this.#pollers.set(machine, poller);
    const listener = { context: this.#context, link, poller, emit };
    link.follow((event) => tellSpoolEvent(listener, event));
  }

  #collect(link: MachineLink, jobs: readonly JobId[], emit: Emit): Promise<void> {
    // This one, and what comes after it: the next, or cleaning up.
    link.session.makeReady?.(2);
    return this.#collector.collect(link, jobs, this.#pollers.get(link.spec.name), emit);
  }

  async #takeBack(link: MachineLink, jobs: readonly JobId[], emit: Emit): Promise<void> {
    const { taken, begun } = await takeBack(this.#context, link, jobs);
    emit({ kind: "jobs-taken-back", machine: link.spec.name, jobs: taken, begun });
    // The rest is asked for again.
    if (taken.length + begun.length < jobs.length) await pause(ASK_AGAIN_MS, link.signal);
  }

  async #retry(link: MachineLink, jobs: readonly JobId[], emit: Emit): Promise<void> {
    for (const id of jobs) this.#context.results.moveAside(jobOf(this.#context, id).name);
    emit({ kind: "jobs-retried", machine: link.spec.name, jobs });
  }

  async #finish(link: MachineLink, cleans: boolean, emit: Emit): Promise<void> {
    this.#pollers.get(link.spec.name)?.stop();
    const left = cleans ? await clean(link.session, link.place, link.signal) : null;
    if (left !== null) emit({ kind: "warning", message: `${link.spec.name}: ${remainsText(left)}` });
    await link.close();
    emit({ kind: "machine-done", machine: link.spec.name });
  }
}

function remainsText(remains: Remains): string {
  if (remains.kind === "left") return `you may not remove all of what jobs left: sudo rm -r ${remains.path}`;
  return `the batch's directory stays: a slot of it runs on ${remains.host}`;
}

/** Not after the link was lost again: that it stands would be heard after that it fell. */
function tellWhile(link: MachineLink, emit: Emit, news: News): void {
  if (link.isLost) throw new LinkLost();
  link.proveUseful();
  emit(news);
}
