// What to do next, from what is known: every choice the client makes is made here.

import { type MachineState, machineOf, type RunState } from "./state.js";

export type Decision = {
  readonly machine: string;
} /** `resumes`: jobs of this batch may be there already. */ & (
  | { readonly kind: "connect"; readonly resumes: boolean }
  /** The link was lost: get it back, for as long as it takes. */
  | { readonly kind: "reconnect" }
  | { readonly kind: "assign"; readonly lines: readonly number[] }
  | { readonly kind: "hand-over"; readonly lines: readonly number[] }
  | { readonly kind: "collect"; readonly lines: readonly number[] }
  | { readonly kind: "free"; readonly keys: readonly string[] }
  | { readonly kind: "take-back"; readonly lines: readonly number[] }
  | { readonly kind: "stop"; readonly lines: readonly number[] }
  | { readonly kind: "finish"; readonly cleans: boolean }
);
export type DecisionKind = Decision["kind"];

/** At most this many jobs in one archive: their names must fit one command line, here and over there. */
const COLLECT_AT_ONCE = 500;
const HAND_OVER_AT_ONCE = 2000;

export function decide(state: RunState): Decision[] {
  const machines = [...state.machines.values()];
  return [...deal(state, machines), ...machines.flatMap((machine) => decideFor(state, machine))];
}

/** Nothing is under way and nothing more can be done. */
export function isOver(state: RunState): boolean {
  return [...state.machines.values()].every(
    (machine) =>
      machine.busy.size === 0 && (isOut(machine) || (machine.phase === "new" && !isNeeded(state, machine))),
  );
}

/** From here on the machines need no client: every job is over there, or done. */
export function isHandedOver(state: RunState): boolean {
  return (
    state.waiting.size === 0 &&
    [...state.machines.values()].every(({ assigned, phase }) => assigned.size === 0 && phase !== "connecting")
  );
}

function isOut({ phase }: MachineState): boolean {
  return phase === "done" || phase === "failed";
}

function isNeeded(state: RunState, { hasSpool, isOpen }: MachineState): boolean {
  return hasSpool || (isOpen && state.waiting.size > 0);
}

/** Marks a decision as under way, so that it is not made twice. */
export function begin(state: RunState, decision: Decision): void {
  const machine = machineOf(state, decision.machine);
  machine.busy.add(decision.kind);
  if (decision.kind === "connect") machine.phase = "connecting";
  if (decision.kind === "finish") machine.phase = "finishing";
  if (decision.kind === "stop") for (const line of decision.lines) machine.stopped.add(line);
  if (decision.kind === "free") for (const key of decision.keys) machine.toFree.delete(key);
}

/** However it went. */
export function settle(state: RunState, decision: Decision): void {
  machineOf(state, decision.machine).busy.delete(decision.kind);
}

/** All of the waiting jobs go out at once, dealt by slots, so that from then on no client is needed. */
function deal(state: RunState, machines: readonly MachineState[]): Decision[] {
  if (state.waiting.size === 0 || state.interrupted !== "no") return [];
  // Whoever answers last gets its share too.
  if (machines.some(({ phase }) => phase === "new" || phase === "connecting")) return [];
  const hands = dealBySlots(
    [...state.waiting],
    machines.filter(({ phase, isOpen }) => phase === "ready" && isOpen),
  );
  return [...hands].map(([machine, lines]) => ({ kind: "assign", machine, lines }));
}

/** In turns, a card for every slot: early lines start early everywhere. */
function dealBySlots(lines: readonly number[], machines: readonly MachineState[]): Map<string, number[]> {
  const rounds = Math.max(0, ...machines.map(({ slots }) => slots));
  const seats: string[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const { name, slots } of machines) if (round < slots) seats.push(name);
  }
  const hands = new Map<string, number[]>();
  lines.forEach((line, turn) => {
    const name = seats[turn % seats.length];
    if (name === undefined) return;
    const hand = hands.get(name);
    if (hand) hand.push(line);
    else hands.set(name, [line]);
  });
  return hands;
}

function decideFor(state: RunState, machine: MachineState): Decision[] {
  if (machine.phase === "new") {
    return isNeeded(state, machine)
      ? [{ kind: "connect", machine: machine.name, resumes: machine.hasSpool }]
      : [];
  }
  if (machine.phase === "lost" && !machine.busy.has("reconnect")) {
    return [{ kind: "reconnect", machine: machine.name }];
  }
  if (machine.phase !== "ready") return [];
  const decisions = [
    ...batch(machine, "hand-over", machine.assigned, HAND_OVER_AT_ONCE),
    ...interrupt(state, machine),
    ...batch(machine, "collect", machine.ended, COLLECT_AT_ONCE),
    ...free(machine),
  ];
  return decisions.length === 0 && isFinished(state, machine)
    ? [{ kind: "finish", machine: machine.name, cleans: machine.hasSpool && !machine.hasStuck }]
    : decisions;
}

function interrupt(state: RunState, machine: MachineState): Decision[] {
  if (state.interrupted === "no" || machine.busy.has("hand-over")) return [];
  const arrived = [...machine.queued].filter((line) => !machine.assigned.has(line));
  const unstopped = [...machine.running].filter((line) => !machine.stopped.has(line));
  return [
    ...batch(machine, "take-back", new Set(arrived)),
    ...(state.interrupted === "stop" ? batch(machine, "stop", new Set(unstopped)) : []),
  ];
}

function free({ name, toFree, busy }: MachineState): Decision[] {
  if (toFree.size === 0 || busy.has("free")) return [];
  return [{ kind: "free", machine: name, keys: [...toFree].slice(0, COLLECT_AT_ONCE) }];
}

function batch(
  machine: MachineState,
  kind: "hand-over" | "collect" | "take-back" | "stop",
  lines: ReadonlySet<number>,
  most = Number.POSITIVE_INFINITY,
): Decision[] {
  if (lines.size === 0 || machine.busy.has(kind)) return [];
  return [{ kind, machine: machine.name, lines: [...lines].slice(0, most) }];
}

/** Nothing of ours is left there and nothing more will come. */
function isFinished(
  state: RunState,
  { queued, running, ended, toFree, busy, isOpen }: MachineState,
): boolean {
  if (queued.size + running.size + ended.size + toFree.size + busy.size > 0) return false;
  if (!isOpen) return true;
  // Another machine may yet refuse its jobs: then this one is needed for them.
  return (
    state.waiting.size === 0 &&
    [...state.machines.values()].every((other) => other.assigned.size === 0 && other.phase !== "connecting")
  );
}
