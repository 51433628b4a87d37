// `sshoal stop`: ends a job or a batch. A client that follows it collects what is left; without one, this does.

import { loadBatches } from "../../batch/batches-here.js";
import { orderFor } from "../../batch/recorded-batch.js";
import { chooseToStop, stopJobs } from "../../batch/stop-jobs.js";
import { ExitCode } from "../../errors.js";
import { Results } from "../../run/home/results.js";
import type { StopOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";

export async function stop(options: StopOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const stopping = chooseToStop(loadBatches(results), options.name);
  const { here, jobs } = stopping;
  const connector = lastingConnector(surroundings, options, note);
  const left = await stopJobs(stopping, connector.connect);
  if (here.holder !== null) return ExitCode.Success;
  const order = { ...(await orderFor(here, results, surroundings, "none")), machines: [] };
  return followHere({
    order,
    surroundings,
    options,
    connector,
    isEnough: (_run, event) => {
      if (event.kind === "job-collected" || event.kind === "job-stuck") left.delete(event.job);
      return left.size === 0 && jobs !== null;
    },
  });
}
