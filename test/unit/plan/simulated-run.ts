// A simulated client with its machines. Decisions are carried out as the verbs would: late, in any order, or not at all
// if a connection is lost. Throws if something happens that never must.

import { attemptKey, parseAttemptKey } from "../../../src/model/attempt-key.js";
import type { Decision, VerbNews } from "../../../src/model/decision.js";
import type { News, RunEvent } from "../../../src/model/event.js";
import type { Dependency, Job, Outcome } from "../../../src/model/job.js";
import { isRecorded } from "../../../src/model/recorded.js";
import { isStoppable, standingOf } from "../../../src/model/standing.js";
import { decide } from "../../../src/plan/decide.js";
import { apply } from "../../../src/plan/fold/apply.js";
import { initialState } from "../../../src/plan/fold/initial-state.js";
import { replay } from "../../../src/plan/fold/replay.js";
import { canContinue, haltDue, hasItsMachines } from "../../../src/plan/halt.js";
import { heldBy } from "../../../src/plan/holdings.js";
import { isOver } from "../../../src/plan/remaining.js";
import { isUnderWay, keyOn, machineOf, type Policy, type RunState } from "../../../src/plan/run-state.js";
import { takeStock } from "../../../src/plan/stock.js";
import { ready, runStarted } from "./a-run.js";

interface RemoteJob {
  status: "waiting" | "running" | "ended" | "taken";
  outcome: Outcome;
}

type LogLine =
  | { readonly kind: "started"; readonly key: string }
  | { readonly kind: "ended"; readonly key: string; readonly outcome: Outcome };

/** A machine, and the client's connection to it. */
interface Remote {
  readonly name: string;
  readonly slots: number;
  hasSpool: boolean;
  hasRebooted: boolean;
  readonly jobs: Map<string, RemoteJob>;
  readonly freed: Set<string>;
  log: LogLine[];
  link: {
    isUp: boolean;
    isFollowing: boolean;
    offset: number;
    hasBeenReady: boolean;
    hasSpool: boolean;
    epoch: number;
  };
}

interface Pending {
  readonly decision: Decision;
  readonly keys: readonly string[];
  readonly epoch: number;
}

const SUCCESS: Outcome = { kind: "exited", code: 0 };
const FAILURE: Outcome = { kind: "exited", code: 1 };
const STOPPED: Outcome = { kind: "stopped" };
const LOST: Outcome = { kind: "lost", reason: "reboot" };

export interface SimulationFacts {
  readonly jobs: number;
  /** Jobs that arrive while it runs. */
  readonly late: number;
  readonly slots: readonly number[];
  /** Every third job needs more, and only the first and the third machine have slots for it. */
  readonly isMixed: boolean;
  /** Machines may be left out, and results may be stuck: then not all jobs are collected. */
  readonly canFail?: boolean;
  readonly policy: Policy;
  /** What each job comes after, again and again: a job so many lines back. Absent: nothing. */
  readonly graph?: readonly (readonly (Pick<Dependency, "when"> & { readonly back: number })[])[];
}

const MORE = { cpus: 9, memoryMb: 9, gpu: null, reservesMachine: false };
const isLarge = (line: number) => line % 3 === 0;
const hasOwnTree = (line: number) => line % 2 === 0;
const takesLarge = (machine: string) => machine !== "b";

function aJob(line: number, { isMixed, graph = [] }: SimulationFacts): Job {
  const asked = graph[line % Math.max(1, graph.length)] ?? [];
  const dependsOn = asked.map(({ back, when }) => ({ job: line - back, when })).filter(({ job }) => job > 0);
  return {
    id: line,
    line,
    name: `j.${line}`,
    command: "x",
    ...(isMixed && isLarge(line) && { requirement: MORE }),
    ...(isMixed && hasOwnTree(line) && { copyForward: ["data"] }),
    ...(line % 2 === 0 && { keepsDir: true }),
    ...(dependsOn.length > 0 && { dependsOn }),
  };
}

const linesOf = (keys: readonly string[]) => keys.map((key) => parseAttemptKey(key).job);

/** Gets what a reporter gets. */
export interface Audience {
  /** A client begins, the first one or the next. */
  begin(run: Simulation): void;
  /** Called after the event was applied. */
  hear(event: RunEvent, isNews: boolean): void;
}

export class Simulation {
  readonly #facts: SimulationFacts;
  readonly #choose: (count: number) => number;
  readonly #remotes: Map<string, Remote>;
  readonly #audience: Audience | undefined;
  readonly record: RunEvent[] = [];
  /** Attempts whose results are in place. */
  readonly placed = new Set<string>();
  /** Placed attempts of which a part could not be collected. */
  readonly #incomplete = new Set<string>();
  /** How often each line began, and how often that was allowed. */
  readonly #begun = new Map<number, number>();
  readonly #allowed = new Map<number, number>();
  readonly #trace: string[] = [];
  #inbox: (RunEvent | VerbNews)[] = [];
  #pending: Pending[] = [];
  /** The number of the last line that arrived. */
  #come = 0;
  #isCalm = false;
  state: RunState;
  now = 0;

  /** `choose` returns a number below its argument. */
  constructor(facts: SimulationFacts, choose: (count: number) => number, audience?: Audience) {
    this.#facts = facts;
    this.#choose = choose;
    this.#audience = audience;
    this.#remotes = new Map(
      facts.slots.map((slots, index) => {
        const name = String.fromCharCode(97 + index);
        const link = {
          isUp: false,
          isFollowing: false,
          offset: 0,
          hasBeenReady: false,
          hasSpool: false,
          epoch: 0,
        };
        const facts = {
          hasSpool: false,
          hasRebooted: false,
          jobs: new Map(),
          freed: new Set<string>(),
          log: [],
        };
        return [name, { name, slots, link, ...facts }];
      }),
    );
    this.state = this.#newState();
    this.#open();
  }

  /** The jobs that have arrived so far. */
  jobs(): Job[] {
    const added = this.record.flatMap((event) => (event.kind === "jobs-added" ? event.jobs : []));
    return [...Array.from({ length: this.#facts.jobs }, (_, n) => aJob(n + 1, this.#facts)), ...added];
  }

  #newState(): RunState {
    const jobs = this.jobs();
    this.#come = jobs.length;
    return initialState({
      jobs,
      machines: [...this.#remotes.keys()],
      policy: this.#facts.policy,
      isMoreToCome: this.#facts.late > 0,
    });
  }

  /** As at the start of a client: some users have removed results in the meantime, or changed a line. */
  #open(): void {
    this.#audience?.begin(this);
    this.#emit(runStarted(this.jobs()));
    const stopped = [...this.state.stopping].filter((line) => this.#isToResume(line));
    if (stopped.length > 0) this.#emit({ kind: "jobs-resumed", jobs: stopped });
    const toRetry = new Set([...this.state.machines.values()].flatMap((machine) => [...machine.toRetry]));
    for (const [line, tracked] of this.state.jobs) {
      const standing = standingOf(tracked);
      const isUnbegun =
        standing.kind === "assigned" || standing.kind === "sent" || standing.kind === "queued";
      const isTouched = standing.kind !== "waiting" && this.#choose(8) === 0;
      if (standing.kind === "collected" && isTouched) this.#runAnew({ kind: "job-reopened", job: line });
      else if (toRetry.has(line)) continue;
      else if (isUnbegun && isTouched) this.#runAnew({ kind: "job-replaced", job: line });
      else if (standing.kind === "collected")
        this.#emit({ kind: "job-skipped", job: line, outcome: standing.outcome });
    }
    this.#takeIn();
  }

  #isToResume(line: number): boolean {
    const tracked = this.state.jobs.get(line);
    return tracked !== undefined && (tracked.fate.kind === "stopped" || isStoppable(tracked));
  }

  #runAnew(news: News & { readonly job: number }): void {
    this.#allow(news.job);
    this.#emit(news);
  }

  /** The next line of the feed, or its end. */
  #feed(): void {
    const { jobs, late } = this.#facts;
    if (this.#come > jobs + late) return;
    this.#come += 1;
    if (this.#come > jobs + late) this.#emit({ kind: "jobs-complete" });
    else this.#emit({ kind: "jobs-added", jobs: [aJob(this.#come, this.#facts)], position: null });
  }

  /** One random step. */
  step(): void {
    const remotes = [...this.#remotes.values()];
    const remote = remotes[this.#choose(remotes.length)] as Remote;
    const actions: (() => void)[] = [
      ...Array<() => void>(4).fill(() => this.#clientTurn()),
      ...Array<() => void>(4).fill(() => this.#finishOne()),
      ...Array<() => void>(3).fill(() => this.#startJob(remote)),
      ...Array<() => void>(3).fill(() => this.#endJob(remote, this.#choose(4) === 0 ? FAILURE : SUCCESS)),
      ...Array<() => void>(4).fill(() => this.#deliver(remote)),
      () => this.#feed(),
      () => this.#cut(remote),
      () => this.#goesWrong(6) && this.#leaveOut(remote),
      () => this.#pass([500, 3000, 20_000, 700_000][this.#choose(4)] as number),
      () => this.#choose(3) === 0 && this.#reboot(remote),
      () => this.#choose(3) === 0 && this.#restartClient(),
      () => this.#choose(8) === 0 && this.#emit({ kind: "machine-draining", machine: remote.name }),
      () => this.#choose(20) === 0 && this.#interrupt(),
      () => this.#choose(8) === 0 && this.#stopSome(),
      () => this.#choose(4) === 0 && this.#emit({ kind: "paused", pid: 1 }),
      () => this.#emit({ kind: "continued" }),
      () => this.#continue(),
    ];
    (actions[this.#choose(actions.length)] as () => void)();
  }

  /** From now on nothing fails: returns true if the run then ends. */
  comesToItsEnd(): boolean {
    this.#isCalm = true;
    this.#emit({ kind: "continued" });
    for (let left = this.#facts.late; left >= 0; left--) this.#feed();
    for (let round = 0; round < 300; round++) {
      this.#clientTurn();
      if (this.#pending.length === 0 && this.#inbox.length === 0 && this.isOver()) return true;
      while (this.#pending.length > 0) this.#finishOne();
      for (const remote of this.#remotes.values()) {
        this.#startJob(remote);
        this.#endJob(remote, SUCCESS);
        while (this.#deliver(remote));
      }
      this.#pass(500);
    }
    return false;
  }

  /** Lines that ran on some machine. */
  begunLines(): number[] {
    return [...this.#begun.keys()];
  }

  /** The history, for people who debug a failure. */
  explain(): string {
    const jobs = [...this.state.jobs].map(([line, { fate }]) => `${line}: ${JSON.stringify(fate)}`);
    const machines = [...this.state.machines.values()].map((machine) =>
      JSON.stringify(machine, (_, value: unknown) =>
        value instanceof Set ? [...value] : value instanceof Map ? Object.fromEntries(value) : value,
      ),
    );
    return [...this.#trace.slice(-120), ...jobs, ...machines].join("\n");
  }

  isOver(): boolean {
    takeStock(this.state.stock, this.now);
    return isOver(this.state, this.now);
  }

  #clientTurn(): void {
    this.#takeIn();
    takeStock(this.state.stock, this.now);
    const { news, verbs } = decide(this.state, this.now);
    for (const each of news) {
      if (each.kind === "jobs-reassigned") for (const line of each.jobs) this.#allow(line);
      this.#emit(each);
    }
    for (const decision of verbs) {
      this.#note(`decide ${JSON.stringify(decision)}`);
      apply(this.state, { kind: "verb-begun", decision, at: this.now });
      const { link } = this.#remote(decision.machine);
      const keys = "jobs" in decision ? decision.jobs.map((line) => this.#key(decision.machine, line)) : [];
      const pending = { decision, keys, epoch: link.epoch };
      // It needs no connection.
      if (decision.kind === "retry") {
        this.#perform(pending, this.#remote(decision.machine));
        this.#endVerb(decision);
      } else this.#pending.push(pending);
    }
  }

  #endVerb(decision: Decision): void {
    this.#inbox.push({ kind: "verb-ended", decision, at: this.now });
  }

  #takeIn(): void {
    for (const item of this.#inbox.splice(0)) {
      const isNews = apply(this.state, item);
      if ("decision" in item) continue;
      if (isRecorded(item)) this.record.push(item);
      this.#audience?.hear(item, isNews);
    }
    const halt = haltDue(this.state);
    if (halt === null) return;
    this.#emit(halt);
    this.#takeIn();
  }

  #emit(news: News): void {
    this.#note(`news ${JSON.stringify(news)}`);
    const isFailure = news.kind === "job-stuck" || news.kind === "machine-failed";
    if (isFailure && this.#facts.canFail !== true) throw new Error(`unexpected ${JSON.stringify(news)}`);
    this.#inbox.push({ ...news, at: this.now } as RunEvent);
  }

  #key(machine: string, line: number): string {
    return keyOn(this.state, machine, line);
  }

  #remote(name: string): Remote {
    return this.#remotes.get(name) as Remote;
  }

  /** A verb ends, with or without success. */
  #finishOne(): void {
    if (this.#pending.length === 0) return;
    const [pending] = this.#pending.splice(this.#choose(this.#pending.length), 1) as [Pending];
    const { decision, epoch } = pending;
    const remote = this.#remote(decision.machine);
    const isConnecting = decision.kind === "connect" || decision.kind === "reconnect";
    const isCut = !isConnecting && (!remote.link.isUp || remote.link.epoch !== epoch);
    if (!isCut) this.#perform(pending, remote);
    this.#endVerb(decision);
  }

  #perform({ decision, keys }: Pending, remote: Remote): void {
    const { machine } = decision;
    switch (decision.kind) {
      case "connect":
      case "reconnect":
        return this.#connect(decision, remote);
      case "retry":
        for (const line of decision.jobs) this.#allow(line);
        return this.#emit({ kind: "jobs-retried", machine, jobs: decision.jobs });
      case "hand-over":
        return this.#choose(6) === 0
          ? this.#failHandOver(remote, decision, keys)
          : this.#handOver(remote, keys);
      case "collect":
        return this.#collect(remote, keys, keys.length);
      case "collect-rest":
        for (const { job, attempt, key } of decision.rests) this.#collectRest(remote, { job, attempt }, key);
        return;
      case "free":
        return this.#free(remote, decision.attempts.map(attemptKey));
      case "take-back":
        return void this.#tellTaken(remote, keys);
      case "stop":
        return this.#stop(remote, keys);
      case "finish":
        if (decision.cleans) this.#clean(remote);
        remote.link.isUp = false;
        remote.link.isFollowing = false;
        return this.#emit({ kind: "machine-done", machine });
      default:
        return decision satisfies never;
    }
  }

  #performUnheard({ decision, keys }: Pending, remote: Remote): void {
    this.#note(`unheard ${decision.kind} ${keys}`);
    if (decision.kind === "hand-over") this.#arrive(remote, keys);
    if (decision.kind === "collect") this.#collect(remote, keys, this.#choose(keys.length + 1));
    if (decision.kind === "free") this.#free(remote, decision.attempts.map(attemptKey));
    if (decision.kind === "stop") this.#stop(remote, keys);
    if (decision.kind === "take-back") for (const key of keys) this.#takeBack(remote, key);
    if (decision.kind === "finish" && decision.cleans) this.#clean(remote);
  }

  #connect({ machine, resumes }: Decision & { kind: "connect" | "reconnect" }, remote: Remote): void {
    const { link } = remote;
    link.isUp = true;
    link.epoch++;
    if (resumes) this.#attend(remote);
    if (!link.isUp) return;
    this.#emit(link.hasBeenReady ? { kind: "machine-back", machine } : this.#ready(remote));
    link.hasBeenReady = true;
  }

  #ready({ name, slots: count }: Remote): News {
    const news = ready(name, count);
    if (!this.#facts.isMixed || !takesLarge(name) || news.kind !== "machine-ready") return news;
    const { slots } = news;
    const large = slots.map(({ index, gpus }) => ({ index: index + count, gpus, requirement: MORE }));
    return { ...news, slots: [...slots, ...large] };
  }

  #attend(remote: Remote): void {
    const { link, name } = remote;
    link.hasSpool = remote.hasSpool;
    if (!remote.hasSpool) {
      link.offset = 0;
      if (heldBy(machineOf(this.state, name)).length > 0)
        throw new Error(`what was handed over to ${name} is not there any more`);
      return;
    }
    const returned = [...remote.jobs]
      .filter(([, { status }]) => status === "taken")
      .map(([key]) => parseAttemptKey(key))
      .filter(({ job: line, attempt }) => isUnderWay(this.state, name, line, attempt));
    const lines = returned.map(({ job }) => job);
    if (lines.length > 0) this.#emit({ kind: "jobs-taken-back", machine: name, jobs: lines, begun: [] });
    link.isFollowing = true;
    this.#tend(remote);
  }

  /** Starts loops again: jobs that ran when the machine went down are lost. */
  #tend(remote: Remote): void {
    if (!remote.hasRebooted) return;
    remote.hasRebooted = false;
    for (const [key, job] of remote.jobs) {
      if (job.status !== "running") continue;
      Object.assign(job, { status: "ended", outcome: LOST });
      remote.log.push({ kind: "ended", key, outcome: LOST });
    }
  }

  #arrive(remote: Remote, keys: readonly string[]): void {
    remote.hasSpool = true;
    if (this.#facts.isMixed && new Set(linesOf(keys).map(hasOwnTree)).size > 1)
      throw new Error(`${keys.join(" ")} begin with two trees`);
    for (const key of keys) {
      if (this.#facts.isMixed && isLarge(parseAttemptKey(key).job) && !takesLarge(remote.name))
        throw new Error(`${key} is given to ${remote.name}, which has no slot for it`);
      if (remote.jobs.has(key) || remote.freed.has(key)) continue;
      remote.jobs.set(key, { status: "waiting", outcome: SUCCESS });
    }
    this.#tend(remote);
  }

  /** Jobs that were taken back before they arrived are not accepted. */
  #handOver(remote: Remote, keys: readonly string[]): void {
    const machine = remote.name;
    this.#arrive(remote, keys);
    Object.assign(remote.link, { hasSpool: true, isFollowing: true });
    const taken = keys.filter((key) => remote.jobs.get(key)?.status === "taken");
    const arrived = keys.filter((key) => !taken.includes(key));
    this.#emit({ kind: "jobs-handed-over", machine, jobs: linesOf(arrived) });
    if (taken.length > 0) this.#emit({ kind: "jobs-taken-back", machine, jobs: linesOf(taken), begun: [] });
  }

  /** Some jobs arrive anyway, and may begin at once. The machine's report that none did concerns only this hand-over. */
  #failHandOver(
    remote: Remote,
    { jobs: lines, again = [] }: Extract<Decision, { kind: "hand-over" }>,
    keys: readonly string[],
  ): void {
    const machine = remote.name;
    const arrived = keys.slice(0, this.#choose(keys.length + 1));
    if (arrived.length > 0) this.#arrive(remote, arrived);
    for (let begun = this.#choose(3); begun > 0; begun--) this.#startJob(remote);
    const isDoubted = (line: number) => arrived.length > 0 || again.includes(line);
    const absent = lines.filter((line) => !isDoubted(line));
    this.#emit({ kind: "machine-refused", machine, jobs: absent, reason: "full", hint: null });
    this.#emit({ kind: "jobs-taken-back", machine, jobs: absent, begun: [] });
    const begun = this.#tellTaken(
      remote,
      keys.filter((_, index) => isDoubted(lines[index] ?? 0)),
    );
    if (begun.length === 0) return;
    Object.assign(remote.link, { hasSpool: true, isFollowing: true });
    this.#emit({ kind: "jobs-handed-over", machine, jobs: linesOf(begun) });
  }

  /** The keys that had begun. */
  #tellTaken(remote: Remote, keys: readonly string[]): string[] {
    const taken = keys.filter((key) => this.#takeBack(remote, key));
    const begun = keys.filter((key) => !taken.includes(key));
    const lines = { jobs: linesOf(taken), begun: linesOf(begun) };
    if (keys.length > 0) this.#emit({ kind: "jobs-taken-back", machine: remote.name, ...lines });
    return begun;
  }

  #collect(remote: Remote, keys: readonly string[], count: number): void {
    for (const key of keys.slice(0, count)) {
      const { job: line, attempt } = parseAttemptKey(key);
      const job = remote.jobs.get(key);
      if (job?.status !== "ended")
        throw new Error(`${key} is collected from ${remote.name}, but it is ${job?.status}`);
      const about = { job: line, attempt, machine: remote.name };
      if (this.#goesWrong(6)) {
        this.#emit({ kind: "job-stuck", ...about, reason: "a device" });
        continue;
      }
      this.placed.add(`${remote.name} ${key}`);
      const isWhole = this.#choose(5) > 0;
      this.#incomplete[isWhole ? "delete" : "add"](`${remote.name} ${key}`);
      const came = { files: 1, bytes: 1, ...(!isWhole && { missing: ["closed"] }) };
      this.#emit({ kind: "job-collected", ...about, outcome: job.outcome, ...came });
    }
  }

  #collectRest(remote: Remote, of: { job: number; attempt: number }, key: string): void {
    if (remote.jobs.get(key)?.status !== "ended")
      throw new Error(`the rest of ${key} is not on ${remote.name} any more`);
    const isWhole = this.#choose(2) > 0;
    if (isWhole) this.#incomplete.delete(`${remote.name} ${key}`);
    const about = { ...of, machine: remote.name, files: 1, bytes: 1 };
    this.#emit({ kind: "rest-collected", ...about, missing: isWhole ? [] : ["closed"] });
  }

  #free(remote: Remote, keys: readonly string[]): void {
    for (const key of keys) {
      if (!this.placed.has(`${remote.name} ${key}`))
        throw new Error(`${key} is freed, but was never collected`);
      if (this.#incomplete.has(`${remote.name} ${key}`))
        throw new Error(`${key} is freed, but not all of it was collected`);
      remote.jobs.delete(key);
      remote.freed.add(key);
    }
  }

  #takeBack(remote: Remote, key: string): boolean {
    const job = remote.jobs.get(key);
    if (job === undefined && !remote.freed.has(key))
      remote.jobs.set(key, { status: "taken", outcome: SUCCESS });
    if (job?.status === "waiting") job.status = "taken";
    return remote.jobs.get(key)?.status === "taken";
  }

  #stop(remote: Remote, keys: readonly string[]): void {
    for (const key of keys) {
      const job = remote.jobs.get(key);
      if (job?.status !== "waiting" && job?.status !== "running") continue;
      Object.assign(job, { status: "ended", outcome: STOPPED });
      remote.log.push({ kind: "ended", key, outcome: STOPPED });
    }
  }

  #interrupt(): void {
    this.#emit({ kind: "interrupted", mode: this.#choose(2) === 0 ? "drain" : "stop" });
  }

  #stopSome(): void {
    const lines = [...this.state.jobs.keys()];
    this.#emit({ kind: "jobs-stopping", jobs: lines.filter(() => this.#choose(3) === 0) });
  }

  #continue(): void {
    if (canContinue(this.state) && hasItsMachines(this.state))
      this.#emit({ kind: "continued", from: "drain" });
  }

  #clean(remote: Remote): void {
    for (const [key, { status }] of remote.jobs) {
      const attempt = `${remote.name} ${key}`;
      const isHome = status === "ended" && this.placed.has(attempt) && !this.#incomplete.has(attempt);
      if (!isHome && status !== "taken")
        throw new Error(`${remote.name} is cleaned while ${key} there is ${status}`);
    }
    remote.jobs.clear();
    remote.log = [];
    remote.hasSpool = false;
    remote.link.hasSpool = false;
  }

  #startJob(remote: Remote): void {
    const running = [...remote.jobs.values()].filter(({ status }) => status === "running").length;
    if (remote.hasRebooted || running >= remote.slots) return;
    for (const [key, job] of remote.jobs) {
      if (job.status !== "waiting") continue;
      job.status = "running";
      remote.log.push({ kind: "started", key });
      const { job: line } = parseAttemptKey(key);
      const begun = (this.#begun.get(line) ?? 0) + 1;
      this.#begun.set(line, begun);
      this.#note(`${remote.name} starts ${key}`);
      if (begun > (this.#allowed.get(line) ?? 1))
        throw new Error(`line ${line} runs again by accident: ${key}`);
      return;
    }
  }

  #allow(line: number): void {
    this.#allowed.set(line, (this.#allowed.get(line) ?? 1) + 1);
  }

  #endJob(remote: Remote, outcome: Outcome): void {
    if (remote.hasRebooted) return;
    for (const [key, job] of remote.jobs) {
      if (job.status !== "running") continue;
      Object.assign(job, { status: "ended", outcome });
      remote.log.push({ kind: "ended", key, outcome });
      return;
    }
  }

  /** Delivers the next line of a followed log; drops news that the client does not await. */
  #deliver(remote: Remote): boolean {
    const { link, name } = remote;
    const line = remote.log[link.offset];
    if (!link.isUp || !link.isFollowing || line === undefined) return false;
    link.offset++;
    const { job, attempt } = parseAttemptKey(line.key);
    if (!isUnderWay(this.state, name, job, attempt)) return true;
    const about = { job, attempt, machine: name };
    if (line.kind === "started") this.#emit({ kind: "job-started", ...about, slot: 0 });
    else this.#emit({ kind: "job-ended", ...about, outcome: line.outcome, durationMs: 1 });
    return true;
  }

  #cut(remote: Remote): void {
    if (!remote.link.isUp) return;
    this.#dropLink(remote);
    this.#emit({ kind: "machine-lost", machine: remote.name, reason: "cut" });
  }

  /** Until the next client tries again. */
  #leaveOut(remote: Remote): void {
    if (!remote.link.isUp) return;
    this.#dropLink(remote);
    this.#emit({ kind: "machine-failed", machine: remote.name, reason: "sick", hint: null });
  }

  #goesWrong(onceIn: number): boolean {
    return this.#facts.canFail === true && !this.#isCalm && this.#choose(onceIn) === 0;
  }

  /** A verb in progress may still take effect, but the client does not hear of it. */
  #dropLink(remote: Remote): void {
    const { link, name } = remote;
    for (const pending of this.#pending) {
      const { machine, kind } = pending.decision;
      const isThere =
        machine === name && pending.epoch === link.epoch && kind !== "connect" && kind !== "reconnect";
      if (isThere && this.#choose(2) === 0) this.#performUnheard(pending, remote);
    }
    link.isUp = false;
    link.isFollowing = false;
    link.epoch++;
  }

  #reboot(remote: Remote): void {
    this.#note(`${remote.name} reboots`);
    remote.hasRebooted = true;
    this.#cut(remote);
  }

  #pass(ms: number): void {
    this.now += ms;
  }

  /** The client is killed, and the same command is typed again: it knows only its record. */
  #restartClient(): void {
    this.#note("the client is killed");
    for (const remote of this.#remotes.values()) {
      this.#dropLink(remote);
      Object.assign(remote.link, { offset: 0, hasBeenReady: false, hasSpool: false });
    }
    this.#pending = [];
    this.#inbox = [];
    this.state = this.#newState();
    replay(this.state, this.record);
    this.#open();
  }

  #note(text: string): void {
    this.#trace.push(text);
  }
}
