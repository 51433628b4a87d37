// One connection to one machine: run sh scripts with streams, close. The rest of the program knows no other way.

import type { Readable, Writable } from "node:stream";

export type ExecEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly signal: string }
  /** The link went first: what became of the script is not known. */
  | { readonly kind: "lost"; readonly reason: string };

export interface Running {
  /** What the script reads after its own text. End it when there is nothing more to send. */
  readonly stdin: Writable;
  /** Both must be read: an unread stream stalls the script. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What start-up files printed on stdout before the script began: 4 kB of it, once stdout has said something or ended. */
  readonly noise?: string;
  /** Never rejects. The streams may still hold what the script said last. */
  readonly ended: Promise<ExecEnd>;
  /**
   * Closes the channel; what runs on the machine sees its streams end, it is not killed. sshd counts it against the few
   * sessions it allows until it has ended, so a script should end when its streams do.
   */
  close(): void;
}

/** How a connection came about, for people who ask. */
export interface About {
  readonly transport: "ssh2" | "openssh" | "local";
  /** Why this one: "the configuration has a ProxyCommand"; null: it is the usual one. */
  readonly why: string | null;
  /** "the key /home/me/.ssh/id_ed25519", "a key of the agent", "certificate"; null: not known, or no login. */
  readonly login: string | null;
  /** "ssh-ed25519 SHA256:…"; null: not known, or none. */
  readonly hostKey: string | null;
  /** Hops on the way, nearest first. */
  readonly via: readonly string[];
}

export interface Session {
  readonly about: About;
  /**
   * Runs `script` under POSIX sh, started in the home directory, with no tty. At most 8 at a time over ssh, others wait
   * for their turn. When the link is gone it does not reject: what comes back has `ended` as lost.
   */
  exec(script: string): Promise<Running>;
  /**
   * So many scripts are about to come: shells are started that wait for them, so that each begins one round trip after it
   * was asked for, not three. Where that cannot be done, nothing is.
   */
  makeReady?(count: number): void;
  /** Resolves with the reason once the connection is gone, also after close(). */
  readonly gone: Promise<string>;
  close(): Promise<void>;
}
