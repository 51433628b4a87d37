// `sshoal retry`: runs jobs again with their settings; their earlier results move aside.

import type { Connector } from "../../batch/connector.js";
import { type BatchHere, loadBatches } from "../../batch/find/batches-here.js";
import { orderFor } from "../../batch/find/recorded-batch.js";
import { refresh } from "../../batch/find/refresh.js";
import { reachFollower } from "../../batch/follower/ask-follower.js";
import { chooseJobs, type JobChoice } from "../../batch/name/choose-jobs.js";
import { chooseToRetry } from "../../batch/name/choose-retries.js";
import { unreachedText } from "../../report/tables/status-lines.js";
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
  const connector = lastingConnector(surroundings, options, note);
  const batches = loadBatches(results);
  await refreshChosen(batches, options.jobs, connector.connect);
  const { here, jobs, toCollect } = chooseToRetry(batches, options.jobs);
  const follower = await reachFollower(results, here.stem);
  if (follower !== null) {
    await follower.ask({ kind: "retry", jobs });
    leaveNotice(surroundings, here.stem, notice);
    return watchHere({ follower, results, stem: here.stem, options });
  }
  const order = await orderFor(here, { results, surroundings, variables: options.variables }, new Set(jobs));
  return followHere({ order, surroundings, options, connector, notice, rerunsCollected: toCollect });
}

/** Jobs may have ended since the last client left. */
async function refreshChosen(
  batches: readonly BatchHere[],
  { words }: JobChoice,
  connect: Connector,
): Promise<void> {
  const chosen = chooseJobs(batches, { words, states: [] });
  const unreached = await Promise.all(chosen.map(({ here }) => refresh(here, connect)));
  for (const each of unreached.flat()) note(`WARNING: ${unreachedText(each)}`);
}
