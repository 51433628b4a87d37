// Finds the queue service that a command is for: that of this account on this computer, or the one that the user names.

import { UserError } from "../../../errors.js";
import { connectService, type ServiceClient } from "../../../service/client/service-client.js";
import type { Door } from "../../../service/client/service-door.js";
import { socketDoor } from "../../../service/client/socket-door.js";
import type { AskedServer } from "../../options/queue/server-options.js";
import { serviceFile } from "./own-service-file.js";

/** As a server: the service of this computer, whatever a variable or a configuration file says. */
export const HERE = "here";

/** As typed, of the variable, or of a configuration file. Null: the service of this computer. */
export function serverWord({ typed, byDefault }: AskedServer): string | null {
  const word = typed ?? (process.env.SSHOAL_SERVER || byDefault);
  if (word === "")
    throw new UserError("--server takes user@host or tcp://host:port, got an empty word", {
      hint: `is a variable unset? The service of this computer is --server ${HERE}`,
    });
  return word === HERE ? null : word;
}

/** Null: there is no safe place for a service here. */
async function doorFor(server: AskedServer): Promise<Door | null> {
  const word = serverWord(server);
  if (word !== null) {
    const { doorTo } = await import("./server-door.js");
    return doorTo(word, server);
  }
  const file = serviceFile();
  return file === null ? null : socketDoor(file);
}

/** The way to the service. */
export async function needDoor(server: AskedServer): Promise<Door> {
  const door = await doorFor(server);
  if (door === null) throw noServiceError();
  return door;
}

/** Null: it does not run. */
export async function findService(server: AskedServer): Promise<ServiceClient | null> {
  const door = await doorFor(server);
  return door && connectService(door);
}

export async function needService(server: AskedServer): Promise<ServiceClient> {
  const door = await doorFor(server);
  const client = door && (await connectService(door));
  if (client !== null) return client;
  throw noServiceError(door);
}

/** Null: the one of this computer. */
export function noServiceError(door: Door | null = null): UserError {
  const { at, startCommand } = door ?? { at: "", startCommand: "sshoal serve" };
  return new UserError(at === "" ? "the queue service does not run" : `no queue service runs${at}`, {
    hint: startCommand,
  });
}
