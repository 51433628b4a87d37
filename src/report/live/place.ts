// Where a job runs, in a word: its machine, and the cards of its slot.

import { printable } from "../text/printable.js";
import type { ViewState } from "./view-state.js";

/** `gpu1:0`; `gpu1` where the slot has no card, or is not known. */
export function whereOf(view: ViewState, machine: string, slot: number | null): string {
  const answer = view.machines.get(machine)?.answer;
  const slots = answer?.kind === "ready" ? answer.slots : [];
  const cards = slots.find(({ index }) => index === slot)?.gpus.map(({ index }) => index) ?? [];
  return cards.length === 0 ? printable(machine) : `${printable(machine)}:${cards.join(",")}`;
}
