// `sshoal retry`: runs jobs again with their settings; their earlier results move aside.

import { loadBatches } from "../../batch/batches-here.js";
import { chooseToRetry } from "../../batch/choose-retries.js";
import { reachFollower } from "../../batch/follower/ask-follower.js";
import { orderFor } from "../../batch/recorded-batch.js";
import { Results } from "../../run/home/results.js";
import type { RetryOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";
import { hideArguments, leaveNotice } from "../terminal/notices.js";
import { watchHere } from "../terminal/watch-here.js";

export async function retry(options: RetryOptions): Promise<number> {
  const { notice } = options;
  if (notice !== null) hideArguments("retry");
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const { here, jobs } = chooseToRetry(loadBatches(results), options.jobs);
  const follower = await reachFollower(results, here.stem);
  if (follower !== null) {
    await follower.ask({ kind: "retry", jobs });
    leaveNotice(surroundings, here.stem, notice);
    return watchHere({ follower, results, stem: here.stem, options });
  }
  const order = await orderFor(here, { results, surroundings, variables: options.variables }, new Set(jobs));
  const connector = lastingConnector(surroundings, options, note);
  return followHere({ order, surroundings, options, connector, notice });
}
