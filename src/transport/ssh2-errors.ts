// What the network and ssh2 throw, in words, sorted by what can be done about it.

import type { Login } from "./auth.js";
import {
  ConnectError,
  type ConnectErrorKind,
  describeAddress,
  type SshAddress,
  sshCommand,
} from "./connect-error.js";

export function explainSocket(error: unknown, address: SshAddress): ConnectError {
  const code = errorCode(error);
  const [kind, what] = SOCKET_ERRORS[code] ?? ["unreachable", `cannot be reached (${code})`];
  const hint =
    kind === "unknown-host" ? "correct ip in the machine file" : `see for yourself: ${sshCommand(address)}`;
  return new ConnectError(kind, `${describeAddress(address)}: ${what}`, { hint, cause: error });
}

const SOCKET_ERRORS: Readonly<Record<string, readonly [ConnectErrorKind, string]>> = {
  ENOTFOUND: ["unknown-host", "no such host name"],
  // The name server did not answer: a laptop without network, not a name that is wrong.
  EAI_AGAIN: ["unreachable", "its name cannot be looked up right now"],
  ECONNREFUSED: ["refused", "nothing listens on that port"],
  ETIMEDOUT: ["timed-out", "does not answer"],
  EHOSTUNREACH: ["unreachable", "no way to that host"],
  ENETUNREACH: ["unreachable", "no way to its network"],
  ECONNRESET: ["unreachable", "dropped the connection"],
};

/** Node tries each address of a name; when all fail the error is a list of errors. */
function errorCode(error: unknown): string {
  const { code, errors } = error as { code?: string; errors?: { code?: string }[] };
  return code ?? errors?.[0]?.code ?? String(error);
}

export interface HandshakeFacts {
  readonly address: SshAddress;
  readonly login: Login;
  /** Keys were exchanged: what failed came later. */
  readonly hasGreeted: boolean;
}

export function explainHandshake(error: unknown, facts: HandshakeFacts): ConnectError {
  const { level, message } = error as { level?: string; message: string };
  const { address, login } = facts;
  const fail = (kind: ConnectErrorKind, what: string, hint = `see for yourself: ${sshCommand(address)}`) =>
    new ConnectError(kind, `${describeAddress(address)}: ${what}`, { hint, cause: error });
  if (level === "client-authentication" || /authentication failures/i.test(message)) {
    return fail("auth", `does not let ${address.username} in with ${login.offered}`, login.hint ?? undefined);
  }
  if (level === "client-timeout") {
    return fail(
      "silent",
      facts.hasGreeted ? "does not finish the login" : "takes the connection and says nothing",
    );
  }
  if (level === "client-socket") return explainSocket(error, address);
  if (/connection lost/i.test(message)) {
    return fail("refused", "closed the connection before the login was done (too many at once?)");
  }
  return fail("protocol", `cannot agree with its ssh server: ${message}`);
}
