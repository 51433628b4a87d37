// Finds the service that a command of `grass` is for: the broker that is named, the daemon of this computer, or the broker of
// the worker on this computer.

import { UserError } from "../../../errors.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import type { AskedServer } from "../../options/queue/server-options.js";
import { findService, HERE, needService, serverWord } from "../queue/service-here.js";
import { brokerOfWorker } from "./bind-queue.js";
import { runningWorker } from "./worker-file.js";

/** Where each daemon of Grass was. Without a token, the one of this computer is meant. */
const USUAL_BROKER = /^tcp:\/\/(127\.0\.0\.1|localhost|\[::1\]):7500$/;

/** Throws UserError if it does not run. */
export async function needGrass(server: AskedServer): Promise<ServiceClient> {
  const word = serverWord(server);
  const hasToken = server.tokenFile !== null || Boolean(process.env.SSHOAL_TOKEN);
  if (word !== null && (hasToken || !USUAL_BROKER.test(word))) return needService(server);
  const client = await findService({ ...server, typed: HERE });
  if (client !== null) return client;
  const worker = runningWorker();
  if (worker !== null) return needService(brokerOfWorker(worker));
  throw new UserError("the daemon does not run", { hint: "grass start" });
}
