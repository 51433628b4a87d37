// Parses a machine as people name it to ssh: `gpu1`, `ada@gpu1`, `ada@gpu1:2222`, `[fe80::1]:22`,
// `ssh://ada@gpu1:2222`.

import { isIP } from "node:net";

export interface HostWord {
  /** An alias of the ssh configuration, a host name or an address. */
  readonly host: string;
  readonly port: number | null;
  readonly username: string | null;
}

/** For messages. */
export const HOST_FORMS = "name, user@name, user@name:port or ssh://user@name:port";

const MAX_PORT = 65535;

/** Null: it cannot mean a host. */
export function parseHostWord(word: string): HostWord | null {
  const destination = word.replace(/^ssh:\/\/(.*?)\/?$/i, "$1");
  // At the last @, as in ssh: a user's name may contain an @.
  const at = destination.lastIndexOf("@");
  const username = at === -1 ? null : destination.slice(0, at);
  const parts = splitPort(destination.slice(at + 1));
  if (parts === null || !isHostName(parts.host)) return null;
  return username === null || isUserName(username) ? { ...parts, username } : null;
}

/** More than one colon without brackets means an IPv6 address. */
function splitPort(place: string): { host: string; port: number | null } | null {
  const [, bracketed, plain, digits] = /^(?:\[([^[\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(place) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined) return isIP(place) === 6 ? { host: place, port: null } : null;
  if (bracketed !== undefined && isIP(bracketed) !== 6) return null;
  const port = digits === undefined ? null : Number(digits);
  return port === null || isPort(port) ? { host, port } : null;
}

function isPort(port: number): boolean {
  return port >= 1 && port <= MAX_PORT;
}

/** A single word that does not look like an address: it could be a mistyped machine file. */
export function isDoubtful({ host, port, username }: HostWord): boolean {
  return port === null && username === null && !/[.:]/.test(host);
}

/** One word that no program mistakes for an option: no spaces, nothing invisible, no leading dash. */
export function isPlainWord(text: string): boolean {
  return /^[^\s\p{C}-][^\s\p{C}]*$/u.test(text);
}

/** Refuses what OpenSSH refuses, because a ProxyCommand would pass it to a shell. */
export function isUserName(text: string): boolean {
  return isPlainWord(text) && !/['"`$;&<>|(){}]|\\$/.test(text);
}

/** Refuses what OpenSSH refuses, what OpenSSH treats as a pattern, and other forms of a host. */
export function isHostName(text: string): boolean {
  return isPlainWord(text) && !/['"`$\\;&<>|(){}[\]*?!,/@]/.test(text);
}
