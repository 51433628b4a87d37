// Decides whether a request may come in. All authentication is here.

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Refusal } from "./refusal.js";

/** Of `curl --unix-socket SOCKET http://localhost/…`, and of our own client. */
const OWN_HOSTS = ["localhost", "sshoal"];

/**
 * Throws a Refusal. `token` null: the request came over the socket, which only this account can open, so no more is asked of it.
 * A web page that reaches the API by some proxy has an Origin, or another Host. On TCP any Host will do, because a page that was
 * sent here by a forged name does not have the token.
 */
export function admit({ headers }: Pick<IncomingMessage, "headers">, token: string | null): void {
  if (headers.origin !== undefined) throw new Refusal(403, "requests of web pages are refused");
  if (token !== null) return checkToken(headers.authorization, token);
  if (!OWN_HOSTS.includes(headers.host ?? ""))
    throw new Refusal(403, "the request is for another host", { hint: "use http://localhost/" });
}

function checkToken(authorization: string | undefined, token: string): void {
  const [, given = null] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
  if (given !== null && isEqual(given, token)) return;
  throw new Refusal(
    401,
    given === null ? "the request has no token" : "the token is not that of this service",
    {
      hint: "authorization: Bearer TOKEN; the file `token` in the state directory of the service has it",
    },
  );
}

/** Takes as long for any other text. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
