// Who and where a machine is, in forms that cannot be taken for an option or for shell syntax further on.

import { posix } from "node:path";
import type { Address } from "../model/machine.js";
import { expandHome } from "./machine-places.js";
import type { Mistake } from "./mistake.js";
import { type Field, type Fields, optional, readText, readWholeNumber, refuse } from "./yaml-fields.js";

const MAX_PORT = 65535;

export function readAddress(
  fields: Fields,
  { username, keyPath }: { username: string; keyPath: string | null },
  mistakes: Mistake[],
): Address {
  return {
    kind: "ssh",
    host: readIpOrHost(fields, mistakes) ?? "",
    port:
      optional(fields, "port", (field) => readWholeNumber(field, { min: 1, max: MAX_PORT }, mistakes)) ?? 22,
    username: optional(fields, "username", (field) => readUsername(field, mistakes)) ?? username,
    keyPath,
  };
}

function readIpOrHost(fields: Fields, mistakes: Mistake[]): string | null {
  const ip = fields.get("ip");
  const host = fields.get("host");
  if (ip === undefined && host === undefined) {
    mistakes.push({
      offset: 0,
      message: "ip is missing",
      hint: "write ip: and the machine's address or host name",
    });
  }
  if (ip !== undefined && host !== undefined) {
    const offset = Math.max(ip.value.offset, host.value.offset);
    mistakes.push({ offset, message: "ip and host mean the same", hint: "keep one of them" });
  }
  const field = ip ?? host;
  return field === undefined ? null : readHost(field, mistakes);
}

function readHost(field: Field, mistakes: Mistake[]): string | null {
  const text = readText(field, mistakes);
  if (text === null || (isPlainWord(text) && /^[\p{L}\p{M}\p{N}_.:%-]+$/u.test(text) && !hasPort(text)))
    return text;
  const message = `${field.label} must be an address or a host name, got ${JSON.stringify(text)}`;
  mistakes.push({ offset: field.value.offset, message, ...hostHint(text) });
  return null;
}

/** One word that no program takes for an option: no spaces, nothing invisible, no dash in front. */
export function isPlainWord(text: string): boolean {
  return /^[^\s\p{C}-][^\s\p{C}]*$/u.test(text);
}

/** One colon; an IPv6 address has more. */
function hasPort(host: string): boolean {
  return /^[^:]+:[^:]*$/.test(host);
}

function hostHint(text: string): { hint?: string } {
  if (text.includes("@")) return { hint: "put what is before the @ into username:" };
  if (hasPort(text)) return { hint: "put what is after the colon into port:" };
  if (text.startsWith("[")) return { hint: "leave out the brackets" };
  return {};
}

/** Refuses what OpenSSH does, since a ProxyCommand would hand it to a shell. */
function readUsername(field: Field, mistakes: Mistake[]): string | null {
  const text = readText(field, mistakes);
  if (text === null || (isPlainWord(text) && !/['"`$;&<>|(){}]|\\$/.test(text))) return text;
  return refuse(field.value, `${field.label} must be a user name`, mistakes);
}

/** An absolute path on this computer; a relative one is seen from `directory`. */
export function readKeyPath(
  field: Field,
  { directory, homeDir }: { directory: string; homeDir: string },
  mistakes: Mistake[],
): string | null {
  const text = readText(field, mistakes);
  if (text === null) return null;
  if (text === "" || /\p{Cc}|^~[^/]/u.test(text)) {
    return refuse(field.value, `${field.label} must be a path, absolute or beginning with ~/`, mistakes);
  }
  return posix.resolve(directory, expandHome(text, homeDir));
}
