// Examines a machine for `sshoal doctor`: with two connections, because a process must survive the first.

import { diagnose, diagnoseFailure } from "../../fitness/diagnose.js";
import type { Check } from "../../model/examination.js";
import type { Requirement } from "../../model/job.js";
import type { MachineSpec } from "../../model/machine.js";
import { examine, findSurvivor } from "../../remote/doctor/examine.js";
import type { ConnectErrorKind } from "../../transport/connect-error.js";
import type { Connector } from "../connector.js";
import { reach } from "./reach.js";

export interface Visit {
  readonly connect: Connector;
  /** Messages from connecting; they name a new host key. */
  readonly notes: readonly string[];
  readonly treeNames: readonly string[];
  readonly requirement: Requirement;
  /** Whether --limit-memory would work is examined, too. */
  readonly triesLimit: boolean;
}

/** Whether a batch would run on the machine. */
export async function checkMachine(
  spec: MachineSpec,
  { connect, notes, treeNames, requirement, triesLimit }: Visit,
): Promise<Check[]> {
  const beganAt = performance.now();
  let tookMs: number | null = null;
  const first = await reach(spec, connect, async (session, signal) => {
    tookMs = performance.now() - beganAt;
    return { about: session.about, look: await examine(session, spec, triesLimit, signal) };
  });
  if (first.kind === "unreached")
    return [diagnoseFailure(tookMs === null ? checkOf(first.failure) : "scripts", first)];
  const { about, look } = first.answer;
  const { survivor } = look;
  const again =
    survivor === null
      ? null
      : await reach(spec, connect, (session, signal) => findSurvivor(session, survivor, signal));
  const isHostKeyNew = about.hostKey !== null && notes.some((said) => said.includes(about.hostKey ?? ""));
  const examination = {
    ...look,
    connection: { ...about, isHostKeyNew, tookMs: tookMs ?? 0 },
    outlivesLogout: again?.kind === "reached" ? again.answer : null,
  };
  const checks = diagnose({ spec, examination, requirement, treeNames });
  return again?.kind === "unreached" ? [...checks, diagnoseFailure("reach again", again)] : checks;
}

/** The check at which it failed. */
function checkOf(failure: ConnectErrorKind | null): string {
  if (failure === "host-key") return "host key";
  return failure === "auth" || failure === "key-file" ? "login" : "reach";
}
