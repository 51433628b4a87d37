// Explains errors of the network and of ssh2, sorted by what can be done about them.

import { describeTarget, type SshTarget, sshCommand } from "../config/target.js";
import { ConnectError, type ConnectErrorKind } from "../connect-error.js";
import type { Login } from "../login/key-login.js";

export function explainSocket(error: unknown, target: SshTarget): ConnectError {
  const code = errorCode(error);
  const [kind, what] = SOCKET_ERRORS[code] ?? ["unreachable", `cannot be reached (${code})`];
  const { addressFamily } = target;
  const wanted = kind === "unknown-host" && addressFamily !== 0 ? ` with an IPv${addressFamily} address` : "";
  return new ConnectError(kind, `${describeTarget(target)}: ${what}${wanted}`, {
    hint: kind === "unknown-host" ? nameHint(target) : seeForYourself(target),
    cause: error,
  });
}

const SOCKET_ERRORS: Readonly<Record<string, readonly [ConnectErrorKind, string]>> = {
  ENOTFOUND: ["unknown-host", "no such host name"],
  // The name server did not answer: a laptop without network, not a wrong name.
  EAI_AGAIN: ["unreachable", "its name cannot be looked up right now"],
  ECONNREFUSED: ["refused", "nothing listens on that port"],
  ETIMEDOUT: ["timed-out", "does not answer"],
  EHOSTUNREACH: ["unreachable", "no route to that host"],
  ENETUNREACH: ["unreachable", "no route to its network"],
  ECONNRESET: ["dropped", "dropped the connection"],
};

/** Node tries each address of a name; if all fail, the error is a list of errors. */
function errorCode(error: unknown): string {
  const { code, errors } = error as { code?: string; errors?: { code?: string }[] };
  return code ?? errors?.[0]?.code ?? String(error);
}

/** The error of a jump host that cannot connect to the next host. */
export function explainForward(error: unknown, target: SshTarget): ConnectError {
  const { reason, message } = error as { reason?: unknown; message: string };
  if (reason === PROHIBITED) {
    const says = `${describeTarget(target)}: ${target.proxyJump.at(-1)} does not forward connections`;
    return new ConnectError("protocol", `${says} (AllowTcpForwarding in its sshd_config)`, {
      hint: seeForYourself(target),
      cause: error,
    });
  }
  const [, code = "ECONNRESET"] = FORWARD_ERRORS.find(([words]) => words.test(message)) ?? [];
  return explainSocket(Object.assign(new Error(message), { code }), target);
}

const PROHIBITED = 1;

const FORWARD_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/refused/i, "ECONNREFUSED"],
  [/timed out/i, "ETIMEDOUT"],
  [/no route/i, "EHOSTUNREACH"],
  [/network is unreachable/i, "ENETUNREACH"],
  [/not known|unknown host|no address/i, "ENOTFOUND"],
  [/temporary failure/i, "EAI_AGAIN"],
];

export interface HandshakeFacts {
  readonly target: SshTarget;
  readonly login: Login;
  /** Keys were exchanged: the failure came later. */
  readonly hasGreeted: boolean;
}

export function explainHandshake(error: unknown, facts: HandshakeFacts): ConnectError {
  const { level, message } = error as { level?: string; message: string };
  const { target, login } = facts;
  const fail = (kind: ConnectErrorKind, what: string, more: { hint?: string; opensshReason?: string } = {}) =>
    new ConnectError(kind, `${describeTarget(target)}: ${what}`, {
      hint: seeForYourself(target),
      cause: error,
      ...more,
    });
  if (level === "client-authentication" || /authentication failures/i.test(message)) {
    const { says, hint } = login.refusal();
    return fail("auth", says, {
      ...(hint === null ? {} : { hint }),
      ...(login.wantsPerson() ? { opensshReason: "it asks for more than a key" } : {}),
    });
  }
  if (level === "client-timeout") {
    return fail(
      "silent",
      facts.hasGreeted ? "does not finish the login" : "accepts the connection but sends nothing",
    );
  }
  if (level === "client-socket") return explainSocket(error, target);
  if (/connection lost/i.test(message)) {
    return fail("dropped", "closed the connection before the login was done (too many at once?)");
  }
  const isForeign = /no matching/i.test(message);
  return fail("protocol", `cannot agree with its ssh server: ${message}`, {
    ...(isForeign ? { opensshReason: "ssh2 has no algorithm in common with it" } : {}),
  });
}

function nameHint({ alias, host }: SshTarget): string {
  return alias === host
    ? "correct the host name: a machine file's ip, or the ssh configuration's HostName"
    : `correct HostName of ${alias} in the ssh configuration`;
}

function seeForYourself(target: SshTarget): string {
  return `try it yourself: ${sshCommand(target)}`;
}
