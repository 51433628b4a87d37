// Why a machine could not be reached, and what to type next.

import type { Address } from "../model/machine.js";
import { quoteIfNeeded } from "./quote.js";

export type ConnectErrorKind =
  | "unknown-host"
  | "refused"
  | "unreachable"
  | "timed-out"
  /** Takes the connection, then says nothing. */
  | "silent"
  | "auth"
  | "host-key"
  | "key-file"
  | "protocol";

export class ConnectError extends Error {
  readonly kind: ConnectErrorKind;
  readonly hint: string;

  constructor(kind: ConnectErrorKind, message: string, options: { hint: string; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "ConnectError";
    this.kind = kind;
    this.hint = options.hint;
  }

  /** The same attempt may succeed later. The others need a person first, and asking again gets people banned. */
  get isRetryable(): boolean {
    return RETRYABLE.has(this.kind);
  }
}

const RETRYABLE: ReadonlySet<ConnectErrorKind> = new Set(["refused", "unreachable", "timed-out", "silent"]);

export type SshAddress = Extract<Address, { kind: "ssh" }>;

/** `host:port`, as messages name a machine. */
export function describeAddress({ host, port }: SshAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The line with which people see for themselves. */
export function sshCommand({ host, port, username, keyPath }: SshAddress): string {
  const words = ["ssh"];
  if (port !== 22) words.push("-p", String(port));
  if (keyPath !== null) words.push("-i", keyPath);
  return [...words, `${username}@${host}`].map(quoteIfNeeded).join(" ");
}
