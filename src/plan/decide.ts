// What to do next, from what is known: every choice the client makes begins here.

import type { MachineState } from "../model/batch-state.js";
import type { Decision } from "../model/decision.js";
import type { News } from "../model/event.js";
import { rebalance } from "./balance.js";
import { deal } from "./deal.js";
import { startsNothing, stoppingOf } from "./halt.js";
import { idsOf } from "./holdings.js";
import { verbsFor } from "./machine-verbs.js";
import { isQuietEverywhere } from "./remaining.js";
import type { RunState } from "./run-state.js";
import { servedBy } from "./served.js";

/** `news` changes only what is known, and comes first. */
export interface Plan {
  readonly news: readonly News[];
  readonly verbs: readonly Decision[];
}

/** Costs what the machines cost that have changed, not what all of them would. Stock must have been taken. */
export function decide(state: RunState, now: number): Plan {
  const isQuiet = isQuietEverywhere(state);
  const machines = concerned(state, now, isQuiet);
  const news = deal(state, now);
  const verbs = rebalance(state, now);
  for (const machine of machines) {
    news.push(...withholdOrGiveUp(state, machine, now));
    verbs.push(...verbsFor(state, machine, { now, isQuiet }));
  }
  return { news, verbs };
}

/** The machines that something may have to be done about, in the order in which they were named. */
function concerned(state: RunState, now: number, isQuiet: boolean): MachineState[] {
  const { machines, stock } = state;
  if (startsNothing(state) || state.stopping.size > 0) return [...machines.values()];
  // One that is due for another reason may have gathered, too.
  const some = new Set(stock.due);
  for (const machine of stock.gathering.gathered(now)) some.add(machine);
  if (isQuiet) for (const machine of stock.idle) some.add(machine);
  return [...some].sort((one, other) => one.order - other.order);
}

/** What has no effect on the world: the machine is given up, or keeps what was never sent from it. */
function withholdOrGiveUp(state: RunState, machine: MachineState, now: number): News[] {
  const { name, phase, current } = machine;
  if (phase === "lost") return isToGiveUp(state, machine, now) ? [giveUp(state, machine)] : [];
  if (phase !== "ready" || current.assigned.size === 0) return [];
  const jobs = startsNothing(state)
    ? idsOf([current.assigned])
    : idsOf([stoppingOf(state, current.assigned)]);
  return jobs.length === 0 ? [] : [{ kind: "jobs-taken-back", machine: name, jobs, begun: [] }];
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
