// The door to the service of this account on this computer: its unix socket. It is light, because `sshoal enqueue` loads it.

import { lstatSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { checkVersion, type Door } from "./service-door.js";
import { loadServiceFile } from "./service-file.js";

/** `file`: service@<host>.json. Dialling throws UserError if that is not to be trusted. */
export function socketDoor(file: string): Door {
  return {
    at: "",
    startCommand: "sshoal serve",
    isHere: true,
    headers: { host: "sshoal" },
    patienceMs: 0,
    async dial() {
      const service = loadServiceFile(file);
      if (service === null) return null;
      checkVersion(service, "");
      const socket = await dialSocket(service.socket);
      return socket && { service, socket };
    },
    close() {},
  };
}

/** Null: nothing listens there. */
function dialSocket(path: string): Promise<Socket | null> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isSocket() || found.uid !== process.geteuid?.()) return Promise.resolve(null);
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("error", () => resolve(null));
    socket.once("connect", () => resolve(socket));
  });
}
