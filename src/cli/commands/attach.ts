// `sshoal attach`: resumes a batch, even on a computer without a record of it; or watches another client that follows
// it.

import { chooseFollowed, heldErrorOf, loadBatch, loadBatches } from "../../batch/find/batches-here.js";
import { openBatch } from "../../batch/find/open-batch.js";
import { orderFor } from "../../batch/find/recorded-batch.js";
import { reachFollower } from "../../batch/follower/ask-follower.js";
import { exitCodeOfOne, isOneJob } from "../../batch/one-job.js";
import { Results } from "../../run/home/results.js";
import type { Rerun } from "../../run/rerun.js";
import type { AttachOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";
import { hideArguments } from "../terminal/notices.js";
import { watchHere } from "../terminal/watch-here.js";

export async function attach(options: AttachOptions): Promise<number> {
  const { notice } = options;
  if (notice !== null) hideArguments("attach");
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  if (options.watches) return watch(options, results);
  const connector = lastingConnector(surroundings, options, note);
  const here = await openBatch(options, { results, surroundings, connect: connector.connect });
  const means = { results, surroundings, variables: options.variables };
  const order = await orderFor(here, means, "none");
  // What only follows jobs to their end has no machines to give any to.
  const orderAgain = (rerun: Rerun) => orderFor(loadBatch(results, here.stem) ?? here, means, rerun);
  const following = { order, surroundings, connector, orderAgain, notice };
  if (!isOneJob(here)) return followHere({ ...following, options });
  // As execute_remote would have continued.
  const asRemote = options.isJson ? options : { ...options, tees: true, voice: "execute_remote" as const };
  return followHere({ ...following, options: asRemote, exitCodeOf: exitCodeOfOne });
}

async function watch(options: AttachOptions, results: Results): Promise<number> {
  const { stem } = chooseFollowed(loadBatches(results), options.batch);
  const follower = await reachFollower(results, stem);
  if (follower === null) throw heldErrorOf(results, stem);
  return watchHere({ follower, results, stem, options });
}
