// Reads the address and user of a machine, in forms that cannot be mistaken for an option or shell syntax.

import { posix } from "node:path";
import type { Address } from "../../model/machine.js";
import type { Mistake } from "../mistake.js";
import { type Field, type Fields, optional, readText, readWholeNumber, refuse } from "../yaml/yaml-fields.js";
import { isHostName, isUserName } from "./host-word.js";
import { expandHome } from "./machine-places.js";

const MAX_PORT = 65535;

export interface AddressContext {
  readonly keyPath: string | null;
  /** The ssh configuration file, absolute; null: the user's own. */
  readonly configFile: string | null;
}

export function readAddress(fields: Fields, context: AddressContext, mistakes: Mistake[]): Address {
  const transport = optional(fields, "transport", (field) => readTransport(field, mistakes));
  if (transport === "local") return readLocal(fields, mistakes);
  const port = { min: 1, max: MAX_PORT };
  return {
    kind: "ssh",
    host: readIpOrHost(fields, mistakes) ?? "",
    port: optional(fields, "port", (field) => readWholeNumber(field, port, mistakes)),
    username: optional(fields, "username", (field) => readUsername(field, mistakes)),
    ...context,
    transport,
  };
}

function readTransport(field: Field, mistakes: Mistake[]): "ssh2" | "openssh" | "local" | null {
  const text = readText(field, mistakes);
  if (text === null || text === "ssh2" || text === "openssh" || text === "local") return text;
  return refuse(field.value, `${field.label} must be ssh2, openssh or local`, mistakes);
}

/** This computer, without ssh. */
function readLocal(fields: Fields, mistakes: Mistake[]): Address {
  for (const key of ["ip", "host", "port", "username", "ssh_key_path"]) {
    const field = fields.get(key);
    if (field === undefined) continue;
    const message = `${key} has no meaning with transport: local, which is this computer without ssh`;
    mistakes.push({ offset: field.value.offset, message, hint: "remove one of the two lines" });
  }
  return { kind: "local" };
}

function readIpOrHost(fields: Fields, mistakes: Mistake[]): string | null {
  const ip = fields.get("ip");
  const host = fields.get("host");
  if (ip === undefined && host === undefined) {
    mistakes.push({
      offset: 0,
      message: "ip is missing",
      hint: "write ip: and the machine's address, or the name you type after ssh",
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
  if (text === null || (isHostName(text) && !hasPort(text))) return text;
  const message = `${field.label} must be an address or a host name, got ${JSON.stringify(text)}`;
  mistakes.push({ offset: field.value.offset, message, ...hostHint(text) });
  return null;
}

/** Exactly one colon; an IPv6 address has more. */
function hasPort(host: string): boolean {
  return /^[^:]+:[^:]*$/.test(host);
}

function hostHint(text: string): { hint?: string } {
  if (text.includes("@")) return { hint: "move the part before the @ to username:" };
  if (hasPort(text)) return { hint: "move the part after the colon to port:" };
  if (text.startsWith("[")) return { hint: "leave out the brackets" };
  return {};
}

function readUsername(field: Field, mistakes: Mistake[]): string | null {
  const text = readText(field, mistakes);
  if (text === null || isUserName(text)) return text;
  return refuse(field.value, `${field.label} must be a user name`, mistakes);
}

/** An absolute path on this computer; a relative one starts at `directory`. */
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
