// `sshoal attach`: goes on with a batch, also on a computer that has never seen it.

import { openBatch } from "../../batch/open-batch.js";
import { orderFor } from "../../batch/recorded-batch.js";
import type { ExitCode } from "../../errors.js";
import { Results } from "../../run/home/results.js";
import type { AttachOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";

export async function attach(options: AttachOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const connector = lastingConnector(surroundings, options, note);
  const here = await openBatch(options, { results, surroundings, connect: connector.connect });
  const order = await orderFor(here, results, surroundings, "none");
  return followHere({ order, surroundings, options, connector });
}
