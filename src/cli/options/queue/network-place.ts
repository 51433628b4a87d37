// Reads HOST:PORT.

import { UserError } from "../../../errors.js";

export interface NetworkPlace {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** `what`: for the message. `example`: for the hint. Throws UserError. */
export function parseNetworkPlace(text: string, what: string, example: string): NetworkPlace {
  const [, v6, name, digits] = /^(?:\[([\da-fA-F:.]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? name;
  const port = Number(digits);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new UserError(`${what} takes HOST:PORT, got "${text}"`, { hint: example });
}

export function formatNetworkPlace({ host, port }: NetworkPlace): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
