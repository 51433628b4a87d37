// Decides whether a request may come in.

import type { IncomingMessage } from "node:http";
import { Refusal } from "./refusal.js";

/** Of `curl --unix-socket SOCKET http://localhost/…`, and of our own client. */
const OWN_HOSTS = ["localhost", "sshoal"];

/**
 * Throws a Refusal. All authentication is here: only this account can open the socket, so no more is asked of a request. A web
 * page that reaches the API by some proxy has an Origin, or another Host.
 */
export function admit({ headers }: Pick<IncomingMessage, "headers">): void {
  if (headers.origin !== undefined) throw new Refusal(403, "requests of web pages are refused");
  if (!OWN_HOSTS.includes(headers.host ?? ""))
    throw new Refusal(403, "the request is for another host", { hint: "use http://localhost/" });
}
