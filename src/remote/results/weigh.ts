// Asks how large a collection is, while it arrives. Used only for large ones.

import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Collection, listScript } from "./collect.js";

/** In bytes, roughly: without the headers of the archive. */
export async function weigh(session: Session, collection: Omit<Collection, "into">): Promise<number> {
  const script = `${listScript(collection)}
# The size that a sparse file has to tar; not every du knows of it.
{ du -sck --apparent-size -- "$@" 2>/dev/null || du -sck -- "$@"; } </dev/null | tail -n 1
echo done
`;
  const [total = ""] = await ask(session, { doing: "weighing results", script, signal: collection.signal });
  return Number.parseInt(total, 10) * 1024;
}
