// Connects to the socket of another process of this account.

import { lstatSync } from "node:fs";
import { connect } from "node:net";
import { JsonChannel } from "./json-channel.js";

/** Null: no process listens on it, or it belongs to another account. */
export function dial(path: string): Promise<JsonChannel | null> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isSocket() || found.uid !== process.geteuid?.()) return Promise.resolve(null);
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("error", () => resolve(null));
    socket.once("connect", () => resolve(new JsonChannel(socket)));
  });
}
