// Why a machine could not be reached, and what to type next.

import type { Address } from "../model/machine.js";

export type ConnectErrorKind =
  | "unknown-host"
  | "refused"
  | "unreachable"
  | "timed-out"
  /** Accepts the connection, then sends nothing. */
  | "silent"
  /**
   * Accepts the connection, then ends it before the login is done. sshd does so at random while too many connections
   * are logging in.
   */
  | "dropped"
  /** The login worked, but sshd starts no command: at a process limit, at MaxSessions, or by its configuration. */
  | "no-session"
  | "auth"
  | "host-key"
  | "key-file"
  /** A fault in the ssh configuration, or something missing on this computer that it needs. */
  | "config"
  | "protocol";

export interface ConnectErrorOptions {
  readonly hint: string;
  readonly cause?: unknown;
  readonly opensshReason?: string | null;
}

export class ConnectError extends Error {
  readonly kind: ConnectErrorKind;
  readonly hint: string;
  /** Why the system's ssh may succeed where ssh2 failed; null: it would fail as well. */
  readonly opensshReason: string | null;

  constructor(kind: ConnectErrorKind, message: string, options: ConnectErrorOptions) {
    super(message, { cause: options.cause });
    this.name = "ConnectError";
    this.kind = kind;
    this.hint = options.hint;
    this.opensshReason = options.opensshReason ?? null;
  }

  /**
   * True if the same attempt may succeed later. Other errors need a person first, and repeated attempts can get a user
   * banned.
   */
  get isRetryable(): boolean {
    return RETRYABLE.has(this.kind);
  }
}

const RETRYABLE: ReadonlySet<ConnectErrorKind> = new Set([
  "refused",
  "unreachable",
  "timed-out",
  "silent",
  "dropped",
  "no-session",
]);

export type SshAddress = Extract<Address, { kind: "ssh" }>;
