// Finds the service that a command of `grass` is for.

import { UserError } from "../../../errors.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import type { AskedServer } from "../../options/queue/server-options.js";
import { findService, needService, serverWord } from "../queue/service-here.js";

/** Throws UserError if it does not run. */
export async function needGrass(server: AskedServer): Promise<ServiceClient> {
  if (serverWord(server) !== null) return needService(server);
  const client = await findService(server);
  if (client !== null) return client;
  throw new UserError("the daemon does not run", { hint: "grass start" });
}
