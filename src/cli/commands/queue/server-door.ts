// The door to a queue service on another computer. Only loaded for one.

import { UserError } from "../../../errors.js";
import type { Door } from "../../../service/client/service-door.js";
import { tcpDoor } from "../../../service/client/tcp-door.js";
import { parseNetworkPlace } from "../../options/queue/network-place.js";
import type { AskedServer } from "../../options/queue/server-options.js";
import { tokenFor } from "./server-token.js";
import { sshDoorTo } from "./ssh-way.js";

const TCP = "tcp://";

/** `word`: `tcp://host:port`, or a machine as `--machines` takes it. Throws UserError for one that means none. */
export async function doorTo(word: string, server: AskedServer): Promise<Door> {
  if (word.startsWith(TCP)) {
    const place = parseNetworkPlace(word.slice(TCP.length), "--server tcp://", `--server ${TCP}gpu1:7500`);
    return tcpDoor(place, await tokenFor(place, server.tokenFile));
  }
  if (/^https?:/.test(word))
    throw new UserError(`--server ${word}: the queue service does not answer there`, {
      hint: `--server user@host, or ${word.replace(/^https?:/, "tcp:").replace(/\/+$/, "")}`,
    });
  return sshDoorTo(word, server);
}
