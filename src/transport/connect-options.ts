// What every connection of a command shares.

import type { HostKeyPolicy } from "./config/target.js";
import type { Ask } from "./login/ask-person.js";

export interface ConnectOptions {
  /** Where .ssh is, and where scripts start on this computer. */
  readonly homeDir: string;
  /** SSH_AUTH_SOCK; null: there is no agent. */
  readonly agentSocket: string | null;
  /** Reports host keys seen for the first time, and the like. */
  readonly onNote: (message: string) => void;
  /** Null: as the ssh configuration says. */
  readonly hostKeys: HostKeyPolicy | null;
  /** Null: there is no person to ask. */
  readonly ask: Ask | null;
}
