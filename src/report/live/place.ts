// Where a job runs, in one word: its machine, and the cards of its slot.

import type { Slot } from "../../model/machine.js";
import { printable } from "../text/printable.js";
import { textWidth } from "../text/width.js";
import type { ViewState } from "./view-state.js";

/** `gpu1:0`; `gpu1` if the slot has no card, or is unknown. */
export function whereOf(view: ViewState, machine: string, slot: number | null): string {
  const found = slotsOf(view, machine).find(({ index }) => index === slot);
  return placeName(machine, found);
}

/** The width of the widest place that a job can have. */
export function whereWidth(view: ViewState): number {
  const places = [...view.machines.keys()].flatMap((machine) => [
    machine,
    ...slotsOf(view, machine).map((slot) => placeName(machine, slot)),
  ]);
  return Math.max("waits".length, ...places.map((place) => textWidth(printable(place))));
}

/** `gpu1:0`; `gpu1` where the slot has no card, or is not known. */
export function placeName(machine: string, slot: Slot | undefined): string {
  const cards = slot?.gpus.map(({ index }) => index) ?? [];
  return printable(cards.length === 0 ? machine : `${machine}:${cards.join(",")}`);
}

function slotsOf({ machines }: ViewState, machine: string): readonly Slot[] {
  const answer = machines.get(machine)?.answer;
  return answer?.kind === "ready" ? answer.slots : [];
}
