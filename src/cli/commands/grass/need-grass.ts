// Finds the service that a command of `grass` is for.

import { UserError } from "../../../errors.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import type { AskedServer } from "../../options/queue/server-options.js";
import { findService, HERE, needService, serverWord } from "../queue/service-here.js";

/** Where each daemon of Grass was. Without a token, the one of this computer is meant. */
const USUAL_BROKER = /^tcp:\/\/(127\.0\.0\.1|localhost|\[::1\]):7500$/;

/** Throws UserError if it does not run. */
export async function needGrass(server: AskedServer): Promise<ServiceClient> {
  const word = serverWord(server);
  const isUsual =
    word !== null && USUAL_BROKER.test(word) && server.tokenFile === null && !process.env.SSHOAL_TOKEN;
  if (word !== null && !isUsual) return needService(server);
  const client = await findService(isUsual ? { ...server, typed: HERE } : server);
  if (client !== null) return client;
  throw new UserError("the daemon does not run", { hint: "grass start" });
}
