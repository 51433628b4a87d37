// Chooses the transport: ssh2, unless the machine or a jump host needs the system's ssh.

import type { SshAddress } from "./connect-error.js";

export interface Choice {
  readonly transport: "ssh2" | "openssh";
  /** Null: it is the default. */
  readonly why: string | null;
}

/** A jump host, or the machine itself. */
export interface Stop {
  readonly alias: string;
  /** What ssh2 cannot do there, in words. */
  readonly reasons: readonly string[];
}

/** The last stop is the machine. */
export function choose(wish: SshAddress["transport"], stops: readonly Stop[]): Choice {
  if (wish !== null) return { transport: wish, why: "set in the machine file" };
  const machine = stops.at(-1);
  const reasons = stops.flatMap((stop) =>
    stop.reasons.map((reason) => (stop === machine ? reason : `at the jump host ${stop.alias}, ${reason}`)),
  );
  return reasons.length === 0
    ? { transport: "ssh2", why: null }
    : { transport: "openssh", why: [...new Set(reasons)].join("; ") };
}
