// One look at one machine: opens a session for it, and returns a value instead of an error if that fails.

import { UserError } from "../../errors.js";
import { pause } from "../../fleet/retrying.js";
import type { MachineSpec } from "../../model/machine.js";
import { placeOf } from "../../remote/engine/layout.js";
import { Control } from "../../remote/spool/control.js";
import { readSpoolFormat } from "../../remote/spool/spool-format.js";
import { ConnectError, type ConnectErrorKind } from "../../transport/connect-error.js";
import type { Session } from "../../transport/session.js";
import type { Connector } from "../connector.js";

export type ReachedMachine = Pick<MachineSpec, "name" | "address" | "scratch" | "spool">;

export interface Unreached {
  readonly kind: "unreached";
  readonly machine: string;
  readonly reason: string;
  /** What to type next. */
  readonly hint: string | null;
  /** Why the connection failed; null: there was one. */
  readonly failure: ConnectErrorKind | null;
  /** The same attempt may succeed later without any change. */
  readonly isPassing: boolean;
}

export type Reached<T> = { readonly kind: "reached"; readonly answer: T } | Unreached;

/** `signal`: the machine did not answer in time. */
export async function reach<T>(
  machine: ReachedMachine,
  connect: Connector,
  use: (session: Session, signal: AbortSignal) => Promise<T>,
  signal = new AbortController().signal,
): Promise<Reached<T>> {
  let session: Session | null = null;
  try {
    session = await connect(machine, signal);
    return { kind: "reached", answer: await use(session, signal) };
  } catch (error) {
    if (signal.aborted) return tooSlow(machine);
    // What a machine did wrong carries a hint; anything else is our bug.
    if (!(error instanceof Error && "hint" in error)) throw error;
    const hint = typeof error.hint === "string" ? error.hint : null;
    const isPassing =
      session === null ? "isRetryable" in error && error.isRetryable === true : await isLost(session, signal);
    const failure = session === null && error instanceof ConnectError ? error.kind : null;
    return { kind: "unreached", machine: machine.name, reason: error.message, hint, failure, isPassing };
  } finally {
    await session?.close();
  }
}

function tooSlow({ name }: ReachedMachine): Unreached {
  const reason = "it did not answer in time";
  return { kind: "unreached", machine: name, reason, hint: null, failure: null, isPassing: true };
}

/** What was under way may fail a moment before the session is known to be gone. */
function isLost(session: Session, signal: AbortSignal): Promise<boolean> {
  return Promise.race([session.gone.then(() => true), pause(500, signal).then(() => false)]);
}

/**
 * Throws UserError if the machine cannot be reached, or if a newer sshoal made the spool: this one must not write into
 * it.
 */
export async function withControl(
  machine: ReachedMachine,
  batch: string,
  connect: Connector,
  act: (control: Control) => Promise<void>,
): Promise<void> {
  const reached = await reach(machine, connect, async (session, signal) => {
    const place = placeOf(batch, machine);
    await readSpoolFormat(session, place, signal);
    const control = await Control.open(session, place);
    try {
      await act(control);
    } finally {
      control.close();
    }
  });
  if (reached.kind === "reached") return;
  const what = reached.failure === null ? machine.name : `${machine.name} cannot be reached`;
  throw new UserError(`${what}: ${reached.reason}`, {
    ...(reached.hint !== null && { hint: reached.hint }),
  });
}
