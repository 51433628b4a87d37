// The one way to a Session, whichever transport the address asks for.

import type { Address } from "../model/machine.js";
import { connectLocal } from "./local.js";
import type { Session } from "./session.js";
import type { Timeouts } from "./ssh2.js";

export interface ConnectOptions {
  /** Where .ssh is, and where scripts start on this computer. */
  readonly homeDir: string;
  readonly signal?: AbortSignal;
  /** Of the ssh agent; null: do not use one; left out: SSH_AUTH_SOCK. */
  readonly agentSocket?: string | null;
  /** Host keys seen for the first time are told here. */
  readonly onNote?: (message: string) => void;
  readonly systemKnownHosts?: readonly string[];
  readonly timeouts?: Partial<Timeouts>;
}

/** Rejects with a ConnectError, or with the signal's reason. Whoever calls it closes the session. */
export async function connect(address: Address, options: ConnectOptions): Promise<Session> {
  const { signal, agentSocket, onNote, ...rest } = options;
  if (address.kind === "local") return connectLocal({ homeDir: options.homeDir });
  // Loaded for those who need it: without --machines there is no ssh at all.
  const { connectSsh2 } = await import("./ssh2.js");
  return connectSsh2(
    address,
    {
      ...rest,
      agentSocket: agentSocket === undefined ? (process.env.SSH_AUTH_SOCK ?? null) : agentSocket,
      onNote: onNote ?? (() => {}),
    },
    signal,
  );
}
