// Where a job runs, in one word: its machine, and its cards.

import type { Course } from "../../model/attempt.js";
import type { Slot } from "../../model/machine.js";
import { printable } from "../text/printable.js";
import { textWidth } from "../text/width.js";
import type { ViewState } from "./view-state.js";

/** `gpu1:0`; `gpu1` if the job has no card, or its slot is unknown. */
export function whereOf(view: ViewState, machine: string, course: Pick<Course, "slot" | "gpus">): string {
  return placeName(machine, course, slotsOf(view, machine));
}

/** The width of the widest place that a job can have. */
export function whereWidth(view: ViewState): number {
  const places = [...view.machines.keys()].flatMap((machine) => [
    machine,
    ...slotsOf(view, machine).map(({ index }) => whereOf(view, machine, { slot: index })),
  ]);
  return Math.max("waits".length, ...places.map((place) => textWidth(printable(place))));
}

/** `slots`: as planned; they have the cards of older slots, and names for MIG slices, which are shorter than UUIDs. */
export function placeName(
  machine: string,
  { slot, gpus }: Pick<Course, "slot" | "gpus">,
  slots: readonly Slot[],
): string {
  const isShort = gpus?.every((card) => /^\d+$/.test(card));
  const planned = slots.find(({ index }) => index === slot)?.gpus.map(({ index }) => index);
  const cards = (isShort ? gpus : planned) ?? [];
  return printable(cards.length === 0 ? machine : `${machine}:${cards.join(",")}`);
}

function slotsOf({ machines }: ViewState, machine: string): readonly Slot[] {
  const answer = machines.get(machine)?.answer;
  return answer?.kind === "ready" ? answer.slots : [];
}
