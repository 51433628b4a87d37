// Decides whether a batch would run on a machine: turns facts about it into checks, each with a verdict and a fix.

import type { Check } from "../model/examination.js";
import { checkConnection } from "./check-connection.js";
import { checkDisks } from "./check-disks.js";
import { checkGpus } from "./check-gpus.js";
import { checkLeaving } from "./check-leaving.js";
import { checkLimit } from "./check-limit.js";
import { checkNeighbours } from "./check-neighbours.js";
import { checkRoom } from "./check-room.js";
import { checkSetup } from "./check-setup.js";
import { checkTools } from "./check-tools.js";
import type { Patient } from "./patient.js";

export function diagnose(patient: Patient): Check[] {
  const { examination } = patient;
  const { stuckAt } = examination.facts;
  return [
    ...checkConnection(examination),
    ...checkTools(examination.facts),
    ...(stuckAt === null ? [] : [stuckCheck(stuckAt)]),
    ...checkDisks(examination.facts, patient.spec),
    ...checkSetup(patient),
    ...checkGpus(patient),
    ...checkLeaving(examination),
    ...checkLimit(examination.facts),
    ...checkNeighbours(examination.facts),
    ...checkRoom(patient),
  ];
}

/** If a machine cannot be reached, or runs no scripts, there is nothing else to check. */
export function diagnoseFailure(
  check: string,
  { reason, hint }: { reason: string; hint: string | null },
): Check {
  return { check, verdict: "bad", says: reason, fix: hint };
}

/** True if the batch would run on the machine. */
export function isFit(checks: readonly Check[]): boolean {
  return checks.every(({ verdict }) => verdict !== "bad");
}

function stuckCheck(stuckAt: string): Check {
  return {
    check: "answers",
    verdict: "bad",
    says: `no answer while examining ${stuckAt}; later checks were skipped`,
    fix: "a file server may be unreachable: log in to it and try df and loginctl",
  };
}
