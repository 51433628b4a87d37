// `execute_remote`: follows one command on one machine to its end.

import { exitCodeOfOne, orderForOne } from "../../batch/one-job.js";
import { Results } from "../../run/home/results.js";
import type { RemoteOptions } from "../options/remote-options.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";

export async function executeRemote(options: RemoteOptions): Promise<number> {
  const { isJson, isVerbose } = options;
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const order = await orderForOne(options, results, surroundings);
  await results.prepare();
  return followHere({
    order,
    surroundings,
    options: { isJson, isVerbose, tees: true, voice: "execute_remote" },
    connector: lastingConnector(surroundings, options, note),
    exitCodeOf: exitCodeOfOne,
  });
}
