// The options that all connections of a command share.

import type { HostKeyPolicy } from "./config/target.js";
import type { Ask } from "./login/ask-person.js";
import type { Session } from "./session.js";

export interface ConnectOptions {
  /** The directory with .ssh, and the one in which scripts start on this computer. */
  readonly homeDir: string;
  /** SSH_AUTH_SOCK; null: there is no agent. */
  readonly agentSocket: string | null;
  /** The directory for caches; null or absent: nothing is kept. */
  readonly cacheDir?: string | null;
  /** Reports host keys that are seen for the first time, and the like. */
  readonly onNote: (message: string) => void;
  /** Null: the ssh configuration decides. */
  readonly hostKeys: HostKeyPolicy | null;
  /** Null: there is no person to ask. */
  readonly ask: Ask | null;
  /** To machines that have joined the service. Absent: none has. */
  readonly connectJoined?: (name: string, signal?: AbortSignal) => Promise<Session>;
}
