// Prints in pipes and log files why jobs wait, because a run that is silent for minutes looks broken.

import type { RunEvent } from "../../model/event.js";
import { labelsIn } from "../../model/job-label.js";
import type { ViewState } from "../live/view-state.js";
import { printable } from "../text/printable.js";
import { waitingWords } from "../text/waiting-words.js";

/** Free memory changes all the time: the same reason with other amounts is not printed again. */
const AMOUNTS = /[\d.]+/g;
/** After this time the same reason is printed again. */
const AGAIN_AFTER_MS = 10 * 60 * 1000;

/** Prints each reason of each machine once per change, even if many of its slots wait for it. */
export function waitTeller(view: ViewState): (event: RunEvent) => string[] {
  const toldAt = new Map<string, number>();
  return (event) => {
    if (event.kind !== "slot-waiting") return [];
    const answer = view.machines.get(event.machine)?.answer;
    const words = waitingWords(event.reason, {
      slots: answer?.kind === "ready" ? answer.slots : [],
      batch: view.batch,
      labelOf: labelsIn(view.state.jobs),
    });
    const id = `${event.machine} ${words.replace(AMOUNTS, "")}`;
    const before = toldAt.get(id);
    if (before !== undefined && event.at - before < AGAIN_AFTER_MS) return [];
    toldAt.set(id, event.at);
    return [`waiting: ${printable(event.machine)}; ${words}`];
  };
}
