// Why a machine could not be reached, and what to type next.

import type { Address } from "../model/machine.js";

export type ConnectErrorKind =
  | "unknown-host"
  | "refused"
  | "unreachable"
  | "timed-out"
  /** Takes the connection, then says nothing. */
  | "silent"
  /** Takes the connection, then ends it before the login is done: sshd does so at random while too many come at once. */
  | "dropped"
  /** The login worked, but sshd starts no command: at a process limit, at MaxSessions, or by its configuration. */
  | "no-session"
  | "auth"
  | "host-key"
  | "key-file"
  /** The ssh configuration, or what it needs of this computer. */
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
  /** Why the system's ssh may get there where ssh2 did not; null: it would not either. */
  readonly opensshReason: string | null;

  constructor(kind: ConnectErrorKind, message: string, options: ConnectErrorOptions) {
    super(message, { cause: options.cause });
    this.name = "ConnectError";
    this.kind = kind;
    this.hint = options.hint;
    this.opensshReason = options.opensshReason ?? null;
  }

  /** The same attempt may succeed later. The others need a person first, and asking again gets people banned. */
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
