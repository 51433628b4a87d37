// Where a job runs, in one word: its machine, and its cards.

import type { Course } from "../../model/attempt.js";
import { type Slot, SPOOL_FORMAT } from "../../model/machine.js";
import { printable } from "../text/printable.js";
import { textWidth } from "../text/width.js";
import type { ViewState } from "./view-state.js";

/** `gpu1:0`; `gpu1` if the job has no card, or its slot is unknown. */
export function whereOf(view: ViewState, machine: string, course: Pick<Course, "slot" | "gpus">): string {
  const { spoolFormat = SPOOL_FORMAT } = view.state.machines.get(machine) ?? {};
  return placeName(machine, course, { slots: slotsOf(view, machine), spoolFormat });
}

/** The width of the widest place that a job can have. */
export function whereWidth(view: ViewState): number {
  const places = [...view.machines.keys()].flatMap((machine) => [
    machine,
    ...slotsOf(view, machine).map(({ gpus }) => nameWith(machine, gpus)),
  ]);
  return Math.max("waits".length, ...places.map((place) => textWidth(printable(place))));
}

export interface Plans {
  /** As planned: they have the indices of MIG slices, which are shorter than UUIDs. */
  readonly slots: readonly Slot[];
  readonly spoolFormat: number;
}

/** Slots of older spools report no cards, and their jobs got the planned ones. */
export function placeName(
  machine: string,
  { slot, gpus }: Pick<Course, "slot" | "gpus">,
  { slots, spoolFormat }: Plans,
): string {
  const planned = slots.flatMap((each) => each.gpus);
  if (gpus === undefined && spoolFormat < SPOOL_FORMAT)
    return nameWith(machine, slots.find(({ index }) => index === slot)?.gpus ?? []);
  const known = (gpus ?? []).map((card) => planned.find(({ uuid }) => uuid === card) ?? { index: card });
  return nameWith(machine, known);
}

/** A slice that no plan knows has no short name. */
function nameWith(machine: string, cards: readonly { readonly index: number | string }[]): string {
  const names = cards.map(({ index }) => String(index)).filter((name) => /^\d+$/.test(name));
  return printable(names.length === 0 ? machine : `${machine}:${names.join(",")}`);
}

function slotsOf({ machines }: ViewState, machine: string): readonly Slot[] {
  const answer = machines.get(machine)?.answer;
  return answer?.kind === "ready" ? answer.slots : [];
}
