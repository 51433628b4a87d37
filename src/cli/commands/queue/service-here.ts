// Finds the queue service of this account on this computer.

import { hostname } from "node:os";
import path from "node:path";
import { UserError } from "../../../errors.js";
import { connectService, type ServiceClient } from "../../../service/client/service-client.js";
import type { Door } from "../../../service/client/service-door.js";
import { socketDoor } from "../../../service/client/socket-door.js";
import { stateDir } from "../../read-surroundings.js";

/** By which commands find the service. Null: there is no safe place for it. */
export function serviceFile(): string | null {
  const dir = stateDir();
  // Several computers can share a home.
  return dir && path.join(dir, `service@${hostname().replace(/[^\w.-]/g, "_")}.json`);
}

/** Null: it does not run. */
export async function findService(): Promise<ServiceClient | null> {
  const file = serviceFile();
  return file === null ? null : connectService(socketDoor(file));
}

/** The way to the service. */
export function needDoor(): Door {
  const file = serviceFile();
  if (file === null) throw noServiceError();
  return socketDoor(file);
}

const HERE = { at: "", startCommand: "sshoal serve" };

export async function needService(): Promise<ServiceClient> {
  const client = await findService();
  if (client !== null) return client;
  throw noServiceError();
}

export function noServiceError({ at, startCommand }: Pick<Door, "at" | "startCommand"> = HERE): UserError {
  return new UserError(`the queue service${at} does not run`, { hint: startCommand });
}
