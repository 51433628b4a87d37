// The faults of a round, drawn from a seed: which, where, and after how many jobs have begun. Pure.

import { TOOLS, type Tool, WAYS, type Way } from "./stand-ins.js";

/** The processes of a slot. */
const PARTS = ["loop", "keeper", "forker", "job"] as const;
type Part = (typeof PARTS)[number];
export type Signal = "SIGTERM" | "SIGHUP" | "SIGINT" | "SIGKILL";

/** `machine` counts from 0. */
export type Fault =
  /** The client gets a signal that ends it; the same command follows. */
  | { readonly kind: "client"; readonly signal: "SIGKILL" | "SIGTERM" | "SIGHUP" }
  | { readonly kind: "cut"; readonly machine: number; readonly awayMs: number }
  | { readonly kind: "reboot"; readonly machine: number; readonly awayMs: number }
  /** Some processes of one slot, or of all slots, get a signal at once; `isGroup`: also the job's whole group. */
  | {
      readonly kind: "signal";
      readonly machine: number;
      readonly signal: Signal;
      readonly parts: readonly Part[];
      readonly isEverySlot: boolean;
      readonly isGroup: boolean;
    }
  /** Every process of the machine gets a signal, as at a logout that ends a user's processes. */
  | { readonly kind: "logout"; readonly machine: number; readonly signal: Signal }
  /** After `passes` successful calls, one call of a tool fails. */
  | {
      readonly kind: "tool";
      readonly machine: number;
      readonly tool: Tool;
      readonly way: Way;
      readonly where: "hand-over" | "anywhere";
      readonly passes: number;
    }
  /** Until the end of the round. */
  | { readonly kind: "slow"; readonly machine: number; readonly tool: "rm" | "mv" }
  /** For a while the machine may start only this many more processes. */
  | { readonly kind: "limit"; readonly machine: number; readonly spare: number; readonly forMs: number };

export interface TimedFault {
  /** Once this many jobs have begun on all machines together. */
  readonly afterStarts: number;
  /** The delay after that. */
  readonly delayMs: number;
  readonly fault: Fault;
}

export interface FaultDraw {
  readonly jobs: number;
  readonly machines: number;
  readonly random: () => number;
}

const HAND_OVER_TOOLS = ["tar", "mv", "setsid", "mkdir"] as const;
const SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"] as const;
const MAX_DELAY_MS = 40;

/** In the order in which they happen. */
export function drawFaults({ jobs, machines, random }: FaultDraw): TimedFault[] {
  const draw = new Draw(random, machines);
  // Hand-overs come first, so their faults are set before the client starts.
  const early = Array.from({ length: draw.below(3) }, () => ({
    afterStarts: 0,
    delayMs: 0,
    fault: draw.handOverFault(),
  }));
  const slow = draw.chance(0.5) ? [{ afterStarts: 0, delayMs: 0, fault: draw.slowness() }] : [];
  const late = Array.from({ length: 5 + draw.below(6) }, () => ({
    afterStarts: draw.chance(0.15) ? 0 : draw.below(Math.ceil(jobs * 0.95)),
    delayMs: draw.below(MAX_DELAY_MS),
    fault: draw.anyFault(),
  }));
  return [...early, ...slow, ...late.sort((a, b) => a.afterStarts - b.afterStarts)];
}

/** One line for people: "reboot of machine 2". */
export function describeFault(fault: Fault): string {
  switch (fault.kind) {
    case "client":
      return `client gets ${fault.signal}`;
    case "cut":
    case "reboot":
      return `${fault.kind} of machine ${fault.machine + 1}, away for ${fault.awayMs} ms`;
    case "signal": {
      const parts = fault.parts.map((part) => (part === "job" && fault.isGroup ? "job's group" : part));
      const where = fault.isEverySlot ? "all slots" : "one slot";
      return `${fault.signal} to ${parts.join(", ")} of ${where} on machine ${fault.machine + 1}`;
    }
    case "logout":
      return `${fault.signal} to all processes of machine ${fault.machine + 1}`;
    case "tool":
      return `${fault.tool} ${fault.way} on machine ${fault.machine + 1} (${fault.where}, after ${fault.passes})`;
    case "slow":
      return `slow ${fault.tool} on machine ${fault.machine + 1}`;
    case "limit":
      return `${fault.spare} processes more for machine ${fault.machine + 1}, for ${fault.forMs} ms`;
    default:
      return fault satisfies never;
  }
}

class Draw {
  readonly #random: () => number;
  readonly #machines: number;

  constructor(random: () => number, machines: number) {
    this.#random = random;
    this.#machines = machines;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  #of<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }

  #machine(): number {
    return this.below(this.#machines);
  }

  anyFault(): Fault {
    const kinds = [
      () => this.#client(),
      () => this.#client(),
      () => this.#client(),
      () => this.#away("cut"),
      () => this.#away("cut"),
      () => this.#away("reboot"),
      () => this.#signal(),
      () => this.#signal(),
      () => this.#signal(),
      () => this.#logout(),
      () => this.handOverFault(),
      () => this.#tool(),
      () => this.#limit(),
    ];
    return this.#of(kinds)();
  }

  #client(): Fault {
    return { kind: "client", signal: this.#of(["SIGKILL", "SIGKILL", "SIGTERM", "SIGHUP"] as const) };
  }

  #away(kind: "cut" | "reboot"): Fault {
    return { kind, machine: this.#machine(), awayMs: this.chance(0.5) ? 0 : this.below(1500) };
  }

  #signal(): Fault {
    const some = PARTS.filter(() => this.chance(0.5));
    const parts = some.length > 0 ? some : [this.#of(PARTS)];
    const [machine, signal] = [this.#machine(), this.#of(SIGNALS)];
    const isEverySlot = this.chance(0.3);
    return { kind: "signal", machine, signal, parts, isEverySlot, isGroup: this.chance(0.5) };
  }

  #logout(): Fault {
    return { kind: "logout", machine: this.#machine(), signal: this.#of(SIGNALS) };
  }

  handOverFault(): Fault {
    const [machine, tool, way] = [this.#machine(), this.#of(HAND_OVER_TOOLS), this.#of(WAYS)];
    return { kind: "tool", machine, tool, way, where: "hand-over", passes: this.below(3) };
  }

  #tool(): Fault {
    const [machine, tool, way] = [this.#machine(), this.#of(TOOLS), this.#of(WAYS)];
    return { kind: "tool", machine, tool, way, where: "anywhere", passes: this.below(4) };
  }

  slowness(): Fault {
    return { kind: "slow", machine: this.#machine(), tool: this.#of(["rm", "mv"] as const) };
  }

  #limit(): Fault {
    const forMs = 1000 + this.below(4000);
    return { kind: "limit", machine: this.#machine(), spare: this.below(8), forMs };
  }
}
