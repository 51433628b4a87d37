// One connection to one machine: run sh scripts with streams, then close. The rest of the program uses machines only
// through it.

import type { Duplex, Readable, Writable } from "node:stream";

export type ExecEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly signal: string }
  /** The connection was lost first: the script's fate is unknown. */
  | { readonly kind: "lost"; readonly reason: string };

export interface Running {
  /** What the script reads after its own text. End it when there is nothing more to send. */
  readonly stdin: Writable;
  /** Both must be read: an unread stream blocks the script. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What start-up files printed on stdout before the script began: at most 4 kB, known once stdout has data or ended. */
  readonly noise?: string;
  /** Never rejects. The streams may still have unread output. */
  readonly ended: Promise<ExecEnd>;
  /**
   * Closes the channel. Processes on the machine see their streams end, but are not killed. sshd counts the channel as
   * a session until its script has ended, so a script should end when its streams do.
   */
  close(): void;
}

/** How a connection was made, for people who ask. */
export interface About {
  readonly transport: "ssh2" | "openssh" | "local";
  /** Why this one: "the configuration has a ProxyCommand"; null: it is the default. */
  readonly why: string | null;
  /** "the key /home/me/.ssh/id_ed25519", "a key of the agent", "certificate"; null: unknown, or no login. */
  readonly login: string | null;
  /** "ssh-ed25519 SHA256:…"; null: unknown, or none. */
  readonly hostKey: string | null;
  /** Jump hosts, nearest first. */
  readonly via: readonly string[];
}

export interface Session {
  readonly about: About;
  /**
   * Runs `script` under POSIX sh, started in the home directory, without a tty. At most 8 at a time over ssh; further
   * ones wait. It does not reject if the connection is gone: then `ended` is lost. `readsNothing`: the script has no secrets
   * and does not read stdin, which may be at its end. It can then travel with the words that start its shell.
   */
  exec(script: string, readsNothing?: boolean): Promise<Running>;
  /**
   * Announces this many scripts. Shells are started that wait for them, so that each script begins after one round
   * trip, not three. Does nothing if that is not possible.
   */
  makeReady?(count: number): void;
  /**
   * A connection to a unix socket of the machine. It does not count as one of the 8 scripts. Rejects if nothing listens there, or
   * if the machine does not allow it. Absent: this transport cannot.
   */
  openSocket?(path: string): Promise<Duplex>;
  /** Resolves with the reason once the connection is gone, also after close(). */
  readonly gone: Promise<string>;
  close(): Promise<void>;
}
