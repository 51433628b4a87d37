// Finds the service that a command of `grass` is for.

import { UserError } from "../../../errors.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import { findService } from "../queue/service-here.js";

/** `broker`: as typed; null: that of this account on this computer. Throws UserError if it does not run. */
export async function needGrass(broker: string | null): Promise<ServiceClient> {
  if (broker !== null)
    throw new UserError(`--broker ${broker}: other computers cannot be asked yet`, {
      hint: "ssh there, and type the command without --broker",
    });
  const client = await findService();
  if (client !== null) return client;
  throw new UserError("the daemon does not run", { hint: "grass start" });
}
