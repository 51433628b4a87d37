// Keeps the lists of a machine in step with the stages of its attempts. Only attempts.ts calls it.

import type { Attempt } from "../../model/attempt.js";
import { attemptKey } from "../../model/attempt-key.js";
import type { MachineState } from "../../model/batch-state.js";

export function list(machine: MachineState, attempt: Attempt): void {
  const { stage } = attempt;
  indexOf(machine, attempt)?.add(attempt);
  if (stage.kind !== "stuck" && stage.kind !== "collected") return;
  forget(machine, attempt);
  if (stage.kind === "stuck") {
    machine.stuck++;
    return;
  }
  if (stage.missing.length > 0) machine.rests.set(attemptKey(attempt), attempt);
  else if (stage.isThere && stage.isKept) machine.kept.set(attemptKey(attempt), attempt);
  else if (stage.isThere) machine.toFree.add(attempt);
  if (stage.isToRetry) machine.toRetry.add(attempt.job);
}

/** Does nothing if the machine has a later attempt of the job. */
export function forget({ attempts }: MachineState, attempt: Attempt): void {
  if (attempts.get(attempt.job) === attempt) attempts.delete(attempt.job);
}

export function unlist(machine: MachineState, attempt: Attempt): void {
  const { stage } = attempt;
  indexOf(machine, attempt)?.delete(attempt);
  if (stage.kind === "stuck") machine.stuck--;
  if (stage.kind !== "collected") return;
  machine.toFree.delete(attempt);
  machine.kept.delete(attemptKey(attempt));
  machine.rests.delete(attemptKey(attempt));
  if (stage.isToRetry) machine.toRetry.delete(attempt.job);
}

/** The names are written out because V8 looks up a computed one each time. */
function indexOf({ current, overtaken }: MachineState, { stage, isCurrent }: Attempt): Set<Attempt> | null {
  switch (stage.kind) {
    case "assigned":
      return isCurrent ? current.assigned : overtaken.queued;
    case "sent":
      return isCurrent ? current.sent : overtaken.queued;
    case "queued":
      return isCurrent ? current.queued : overtaken.queued;
    case "running":
      return isCurrent ? current.running : overtaken.running;
    case "ended":
      return isCurrent ? current.ended : overtaken.ended;
    case "stuck":
    case "collected":
    case "unknown":
      return null;
    default:
      return stage satisfies never;
  }
}
