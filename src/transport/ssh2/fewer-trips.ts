// Saves round trips of a login that ssh2 waits for without need. ssh2 has no option for that, so this file changes functions
// inside a client. Where a later ssh2 looks different, nothing is changed, and the round trips are made.

import type { Client } from "ssh2";

export interface Shortcuts {
  /** Signs without asking first whether the machine accepts the key. */
  readonly signsAtOnce: boolean;
  /** Sends the login together with the request for it. The host key is checked before either. */
  readonly logsInAtOnce: boolean;
}

type Handler = (protocol: unknown, ...details: unknown[]) => void;

/** The parts of ssh2 that are used. */
interface Inner {
  readonly _protocol?: {
    readonly _handlers?: { USERAUTH_PK_OK?: Handler; SERVICE_ACCEPT?: Handler };
    authPK(username: string, key: unknown, algorithm?: unknown, sign?: unknown): void;
    service(name: string): void;
  };
}

/** Call it right after `connect`. */
export function saveTrips(client: Client, shortcuts: Shortcuts): void {
  const inner = client as unknown as Inner;
  if (shortcuts.signsAtOnce) signAtOnce(inner);
  if (shortcuts.logsInAtOnce) logInAtOnce(inner);
}

/** Goes on as if the machine had accepted the key. */
function signAtOnce({ _protocol: protocol }: Inner): void {
  const sign = protocol?._handlers?.USERAUTH_PK_OK;
  if (protocol === undefined || sign === undefined) return;
  const authenticate = protocol.authPK;
  protocol.authPK = (...words) => {
    if (words.some((word) => typeof word === "function")) authenticate.apply(protocol, words);
    else sign(protocol);
  };
}

/** Goes on as if the machine had accepted the request. A machine handles both in the order in which they arrive. */
function logInAtOnce({ _protocol: protocol }: Inner): void {
  const logIn = protocol?._handlers?.SERVICE_ACCEPT;
  if (protocol?._handlers === undefined || logIn === undefined) return;
  const handlers = protocol._handlers;
  const request = protocol.service;
  protocol.service = (name) => {
    request.call(protocol, name);
    handlers.SERVICE_ACCEPT = () => {};
    logIn(protocol, name);
  };
}
