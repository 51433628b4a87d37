// One decision -> one remote verb -> events. A lost connection is no failure of a verb: the link reports it.

import type { Fleet } from "../../fleet/fleet.js";
import { isRetryable, pause } from "../../fleet/retrying.js";
import { attemptKey } from "../../model/attempt-key.js";
import type { Decision } from "../../model/decision.js";
import type { JobId, Requirement } from "../../model/job.js";
import type { Capacity, MachineSpec } from "../../model/machine.js";
import type { Kinds } from "../../plan/slots/kinds.js";
import { clean, type Remains } from "../../remote/spool/clean-spool.js";
import type { Home } from "../home/home.js";
import type { Emit } from "../loop.js";
import type { RunMachine } from "../run-machines.js";
import { Attendant } from "./attending.js";
import { Collector } from "./collecting.js";
import { type ExpectedError, HeldError, isExpected } from "./expected-error.js";
import { Giver } from "./giving.js";
import { Greeter } from "./greeting.js";
import { Grower } from "./growing.js";
import { jobsOf, type Known } from "./known.js";
import { MachineLink } from "./machine-link.js";
import { ResultsAhead } from "./results-ahead.js";
import { Resumer } from "./resuming.js";
import { Stager } from "./staging.js";
import { takeBack } from "./taking-back.js";
import type { Terms } from "./terms.js";

const ASK_AGAIN_MS = 1000;

type FinishDecision = Extract<Decision, { kind: "finish" }>;

export interface PerformerParts {
  readonly machines: readonly RunMachine[];
  readonly fleet: Fleet;
  readonly terms: Terms;
  /** Those of `terms`. */
  readonly kinds: Map<string, Requirement | undefined>;
  readonly known: Known;
  readonly home: Home;
}

/** Owns the links to all machines; call close() when the run is over, whether it succeeded or not. */
export class Performer {
  readonly #known: Known;
  readonly #home: Home;
  readonly #links: ReadonlyMap<string, MachineLink>;
  readonly #attendant: Attendant;
  readonly #greeter: Greeter;
  readonly #giver: Giver;
  readonly #collector: Collector;
  readonly #grower: Grower;

  constructor({ machines, fleet, terms, kinds, known, home }: PerformerParts) {
    const stager = new Stager(terms);
    const attendant = new Attendant({ terms, known, outputs: home.outputs });
    this.#known = known;
    this.#home = home;
    this.#links = new Map(machines.map((machine) => [machine.spec.name, new MachineLink(machine, fleet)]));
    this.#attendant = attendant;
    this.#greeter = new Greeter({ terms, known, stager, attendant });
    const resumer = new Resumer({ known, results: home.results, maxBytes: terms.sending?.maxBytes ?? null });
    const ahead = new ResultsAhead({ terms, known, outputs: home.outputs });
    this.#giver = new Giver({ terms, known, stager, attendant, resumer, ahead });
    this.#collector = new Collector({ terms, known, home, ahead });
    this.#grower = new Grower({ terms, kinds, known, links: this.#links, greeter: this.#greeter });
  }

  /** The machines that were measured before their first job in this run. */
  measured(): { spec: MachineSpec; capacity: Capacity }[] {
    return [...this.#links.values()].flatMap(({ spec, capacity }) => (capacity ? [{ spec, capacity }] : []));
  }

  /** Never rejects for a fault of a machine; that is an event. */
  readonly perform = async (decision: Decision, emit: Emit): Promise<void> => {
    const link = this.#links.get(decision.machine);
    if (link === undefined) throw new Error(`no link to ${decision.machine}`);
    const losses = link.watchLosses();
    try {
      await this.#do(decision, link, emit);
    } catch (error) {
      if (link.signal.aborted || (await losses.hasLost())) return;
      if (!isExpected(error)) throw error;
      // Treated as a lost connection: the machine keeps what it has, and is asked again.
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

  /** Jobs of these kinds arrived. Machines that are measured later know them from the terms. */
  judge(kinds: Kinds, emit: Emit): void {
    for (const link of this.#links.values()) this.#greeter.judge(link, kinds, emit);
  }

  /** The machine's event logs report the change. Rejects with LinkLost if the machine is unreachable. */
  async setDraining(machine: string, isDraining: boolean, emit: Emit): Promise<void> {
    const link = this.#links.get(machine);
    if (link === undefined) throw new Error(`no link to ${machine}`);
    if (!link.hasSpool) return emit({ kind: isDraining ? "machine-draining" : "machine-opened", machine });
    const control = await link.control();
    await (isDraining ? control.drain() : control.undrain());
    // The machine itself does not know that it was set aside.
    if (!isDraining && this.#known.isSetAside(machine)) emit({ kind: "machine-opened", machine });
  }

  async close(): Promise<void> {
    this.#attendant.stop();
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }

  async #do(decision: Decision, link: MachineLink, emit: Emit): Promise<void> {
    switch (decision.kind) {
      case "connect":
        return this.#greeter.connect(link, decision.resumes, emit);
      case "reconnect":
        return this.#greeter.reconnect(link, decision.resumes, emit);
      case "retry":
        return this.#retry(link, decision.jobs, emit);
      case "hand-over":
        return this.#giver.handOver(link, decision, emit);
      case "collect":
        return this.#collect(link, decision.jobs, emit);
      case "collect-rest":
        return this.#collector.collectRests(link, decision.rests, emit);
      case "free":
        return link.hasSpool ? (await link.control()).free(decision.attempts.map(attemptKey)) : undefined;
      case "take-back":
        return this.#takeBack(link, decision.jobs, emit);
      case "stop":
        return void (await (await link.control()).stop(this.#known.keys(link.spec.name, decision.jobs)));
      case "finish":
        return this.#finish(link, decision, emit);
      default:
        return decision satisfies never;
    }
  }

  #collect(link: MachineLink, jobs: readonly JobId[], emit: Emit): Promise<void> {
    // One shell for this collection and one for the next step: another collection, or cleaning up.
    link.session.makeReady?.(2);
    return this.#collector.collect(link, jobs, this.#attendant.pollerOf(link), emit);
  }

  async #takeBack(link: MachineLink, jobs: readonly JobId[], emit: Emit): Promise<void> {
    const { taken, begun } = await takeBack(this.#known, link, jobs);
    emit({ kind: "jobs-taken-back", machine: link.spec.name, jobs: taken, begun });
    // The remaining jobs are requested again.
    if (taken.length + begun.length < jobs.length) await pause(ASK_AGAIN_MS, link.signal);
  }

  async #retry(link: MachineLink, asked: readonly JobId[], emit: Emit): Promise<void> {
    const machine = link.spec.name;
    // Their results move once the record has the larger need: a client that is killed in between does not forget it.
    const jobs = asked.filter((id) => !this.#grower.grow(id, emit));
    if (jobs.length === 0) return;
    const asides: Record<JobId, string> = {};
    for (const id of jobs) {
      const aside = this.#home.results.moveAside(this.#known.job(id).name);
      if (aside !== null) asides[id] = aside;
    }
    const grown = jobs.filter((id) => this.#known.hasJustGrown(id));
    emit({ kind: "jobs-retried", machine, jobs, asides, ...(grown.length > 0 && { grown }) });
  }

  async #finish(link: MachineLink, { cleans, keeps }: FinishDecision, emit: Emit): Promise<void> {
    this.#attendant.pollerOf(link)?.stop();
    if (keeps !== undefined) await tellKept(link, keeps, emit);
    const left = cleans ? await clean(link.session, link.place, link.signal) : null;
    if (left !== null) emit({ kind: "warning", message: `${link.spec.name}: ${remainsText(left)}` });
    await link.close();
    emit({ kind: "machine-done", machine: link.spec.name });
  }
}

/** Directories that the machine no longer has are not listed as kept. */
async function tellKept(link: MachineLink, keys: readonly string[], emit: Emit): Promise<void> {
  const kept = link.hasSpool ? await (await link.control()).noteKept(keys) : new Map<string, number>();
  const bytes = [...kept.values()].reduce((sum, each) => sum + each, 0);
  const jobs = [...new Set(jobsOf([...kept.keys()]))].sort((one, other) => one - other);
  emit({ kind: "dirs-kept", machine: link.spec.name, jobs, bytes });
}

function remainsText(remains: Remains): string {
  if (remains.kind === "left")
    return `no permission to remove all files that jobs left: sudo rm -r ${remains.path}`;
  return `the batch's directory stays: a slot of it runs on ${remains.host}`;
}
