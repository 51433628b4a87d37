// Computes how many of the given jobs fit now, and if none, why.

import type { Check } from "../model/examination.js";
import { explainShortages } from "../plan/slots/explain.js";
import { planSlots } from "../plan/slots/slots.js";
import type { Patient } from "./patient.js";

export function checkRoom({ spec, examination: { capacity }, requirement }: Patient): Check[] {
  const plan = planSlots({ spec, capacity, requirement });
  const count = plan.slots.length;
  if (count > 0)
    return [
      {
        check: "room",
        verdict: "ok",
        says: `${count} such ${count === 1 ? "job" : "jobs"} at a time`,
        fix: null,
      },
    ];
  // Another check already reports that there are no cards.
  const shortages = plan.shortages.filter(({ kind }) => kind !== "gpus" || capacity.gpus.length > 0);
  return explainShortages({ capacity, requirement, plan: { ...plan, shortages } }).map(roomCheck);
}

/** The hint is in brackets at the end of a line. */
function roomCheck(line: string): Check {
  const [, says, hint] = /^(.*) \(([^()]*)\)$/.exec(line) ?? [];
  if (says === undefined || hint === undefined)
    return { check: "room", verdict: "bad", says: `none now: ${line}`, fix: "wait, or use another machine" };
  return { check: "room", verdict: "bad", says: `none now: ${says}`, fix: hint };
}
