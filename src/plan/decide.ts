// Decides what the client does next. Every choice of the client starts in this file.

import type { MachineState } from "../model/batch-state.js";
import type { Decision } from "../model/decision.js";
import type { News } from "../model/event.js";
import { rebalance } from "./balance.js";
import { tellBlocked } from "./blocked.js";
import { deal } from "./deal.js";
import { startsNothing, stoppingOf } from "./halt.js";
import { idsOf } from "./holdings.js";
import { verbsFor } from "./machine-verbs.js";
import { isQuietEverywhere } from "./remaining.js";
import type { RunState } from "./run-state.js";
import { servedBy } from "./served.js";
import { tellLeftOut } from "./tell-left-out.js";

/** `news` only changes the state, and is applied before the verbs. */
export interface Plan {
  readonly news: readonly News[];
  readonly verbs: readonly Decision[];
}

/** Call `takeStock` first. The cost depends on the machines that changed, not on all machines. */
export function decide(state: RunState, now: number): Plan {
  const isQuiet = isQuietEverywhere(state);
  const machines = concerned(state, now, isQuiet);
  const news: News[] = [...tellBlocked(state), ...tellLeftOut(state), ...deal(state, now)];
  const verbs = rebalance(state, now);
  for (const machine of machines) {
    const withheld = withholdOrGiveUp(state, machine, now);
    if (withheld !== null) news.push(withheld);
    verbs.push(...verbsFor(state, machine, { now, isQuiet }));
  }
  return { news, verbs };
}

/** The machines that may need a decision, in the order in which the user named them. */
function concerned(state: RunState, now: number, isQuiet: boolean): MachineState[] {
  const { machines, stock } = state;
  if (startsNothing(state) || state.stopping.size > 0) return [...machines.values()];
  const gathered = stock.gathering.gathered(now);
  // Most events concern no machine, and an empty set costs more than this question.
  if (stock.due.size + gathered.length === 0 && !isQuiet) return [];
  // A set, because one machine can be both due and gathered.
  const some = new Set(stock.due);
  for (const machine of gathered) some.add(machine);
  if (isQuiet) for (const machine of stock.idle) some.add(machine);
  return [...some].sort((one, other) => one.order - other.order);
}

/** Decisions that have no effect on a machine: give it up, or keep back jobs that were never sent to it. */
function withholdOrGiveUp(state: RunState, machine: MachineState, now: number): News | null {
  const { name, phase, current } = machine;
  if (phase === "lost") return isToGiveUp(state, machine, now) ? giveUp(state, machine) : null;
  if (phase !== "ready" || current.assigned.size === 0) return null;
  const jobs = startsNothing(state)
    ? idsOf([current.assigned])
    : idsOf([stoppingOf(state, current.assigned)]);
  return jobs.length === 0 ? null : { kind: "jobs-taken-back", machine: name, jobs, begun: [] };
}

function isToGiveUp(
  { policy: { reassignAfterMs }, stock }: RunState,
  machine: MachineState,
  now: number,
): boolean {
  if (machine.isGivenUp || reassignAfterMs === null || now - machine.lostAt < reassignAfterMs) return false;
  return stock.takers.size > 0;
}

function giveUp(state: RunState, { name, current: { assigned, sent, queued } }: MachineState): News {
  const waiting = idsOf([assigned, sent, queued]);
  return {
    kind: "jobs-reassigned",
    machine: name,
    jobs: [...servedBy(state, state.stock.takers, waiting)],
  };
}
