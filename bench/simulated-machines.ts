// Machines without ssh: they carry out decisions as the verbs would, a little later by a simulated clock, which stands
// still while the client works. Nothing is random.

import type { Decision } from "../src/model/decision.js";
import type { Emit } from "../src/run/loop.js";

/** A round trip, by the simulated clock. */
const VERB_MS = 20;
const SUCCESS = { kind: "exited", code: 0 } as const;
const CAPACITY = {
  hostname: "simulated",
  identity: "",
  shell: "sh",
  cpus: null,
  memory: null,
  gpus: [],
  gpuProblem: null,
  claims: [],
} as const;

interface Machine {
  readonly name: string;
  /** The fastest machines are three times as fast as the slowest: they run out of work, and get jobs of others. */
  readonly jobMs: number;
  /** Jobs on the machine that have not begun. */
  readonly waiting: Set<number>;
  readonly freeSlots: number[];
}

export interface Simulated {
  readonly names: readonly string[];
  readonly slots: number;
  /** The number of the current attempt of a job. */
  readonly attemptOn: (machine: string, line: number) => number;
}

export class SimulatedMachines {
  readonly #attemptOn: Simulated["attemptOn"];
  readonly #machines: ReadonlyMap<string, Machine>;
  readonly #slots: readonly { readonly index: number; readonly gpus: [] }[];
  /** What happens at which ms. */
  readonly #agenda = new Map<number, (() => void)[]>();
  #now = 0;

  constructor({ names, slots, attemptOn }: Simulated) {
    this.#attemptOn = attemptOn;
    this.#slots = Array.from({ length: slots }, (_, index) => ({ index, gpus: [] }));
    this.#machines = new Map(
      names.map((name, index) => {
        const jobMs = 100 + ((index * 7919) % 201);
        const freeSlots = this.#slots.map((slot) => slot.index);
        return [name, { name, jobMs, waiting: new Set(), freeSlots }];
      }),
    );
  }

  readonly now = (): number => this.#now;

  /** Lets the next event happen, or all events of the next millisecond that has any; false: nothing is left. */
  step(isEachAlone: boolean): boolean {
    if (this.#agenda.size === 0) return false;
    while (!this.#agenda.has(this.#now)) this.#now++;
    const due = this.#agenda.get(this.#now) ?? [];
    const some = isEachAlone ? due.splice(0, 1) : due.splice(0);
    if (due.length === 0) this.#agenda.delete(this.#now);
    for (const happen of some) happen();
    return true;
  }

  /** `done` is called when the verb has ended. */
  start(decision: Decision, emit: Emit, done: () => void): void {
    const machine = this.#machines.get(decision.machine);
    if (machine === undefined) throw new Error(`no machine ${decision.machine}`);
    this.#after(VERB_MS, () => {
      this.#do(decision, machine, emit);
      done();
    });
  }

  #do(decision: Decision, machine: Machine, emit: Emit): void {
    const { name } = machine;
    switch (decision.kind) {
      case "connect":
        return emit({ kind: "machine-ready", machine: name, capacity: CAPACITY, slots: this.#slots });
      case "hand-over":
        for (const line of decision.jobs) machine.waiting.add(line);
        emit({ kind: "jobs-handed-over", machine: name, jobs: decision.jobs });
        return this.#startJobs(machine, emit);
      case "take-back": {
        const lines = decision.jobs.filter((line) => machine.waiting.delete(line));
        const begun = decision.jobs.filter((line) => !lines.includes(line));
        return emit({ kind: "jobs-taken-back", machine: name, jobs: lines, begun });
      }
      case "collect":
        for (const line of decision.jobs) {
          const about = { ...this.#about(machine, line), outcome: SUCCESS };
          emit({ kind: "job-collected", ...about, files: 1, bytes: 1 });
        }
        return;
      case "free":
        return;
      case "finish":
        return emit({ kind: "machine-done", machine: name });
      default:
        throw new Error(`nothing goes wrong here, but the client decided to ${decision.kind}`);
    }
  }

  #startJobs(machine: Machine, emit: Emit): void {
    for (const line of machine.waiting) {
      const slot = machine.freeSlots.pop();
      if (slot === undefined) return;
      machine.waiting.delete(line);
      emit({ kind: "job-started", ...this.#about(machine, line), slot });
      this.#after(machine.jobMs, () => {
        machine.freeSlots.push(slot);
        const took = { outcome: SUCCESS, durationMs: machine.jobMs };
        emit({ kind: "job-ended", ...this.#about(machine, line), ...took });
        this.#startJobs(machine, emit);
      });
    }
  }

  #about({ name: machine }: Machine, line: number) {
    return { job: line, attempt: this.#attemptOn(machine, line), machine };
  }

  #after(ms: number, happen: () => void): void {
    const due = this.#agenda.get(this.#now + ms);
    if (due) due.push(happen);
    else this.#agenda.set(this.#now + ms, [happen]);
  }
}
