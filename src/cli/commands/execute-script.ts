// `execute_batch`: reads the command line and the script, and follows the batch to its end. If another client follows
// the batch, that client reads the script again.

import { type JobFeed, jobFeedFor } from "../../batch/feed/job-feeds.js";
import { stemFor, stemOfFollowed } from "../../batch/find/batch-stem.js";
import { machinesFor } from "../../batch/surroundings.js";
import { Results } from "../../run/home/results.js";
import { arrivingOptions } from "../options/arriving-options.js";
import { noticeOf } from "../options/notify-options.js";
import type { Program } from "../options/options.js";
import type { Revise } from "../options/revise-run.js";
import type { RunOptions } from "../options/run-options.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";
import { hideArguments } from "../terminal/notices.js";
import { askAgain } from "./ask-again.js";
import { dryRun } from "./dry-run.js";
import { type GivenJobs, orderForJobs, readScript, resolveJobs } from "./typed-order.js";

/** `script` of the options: the prefix for the names of the jobs. */
export interface Asked {
  readonly options: RunOptions;
  readonly stem: string;
  readonly program: Program;
  /** Brings more jobs; absent: the given ones are all. */
  readonly feed?: JobFeed;
}

export async function executeBatch(typed: RunOptions, revise: Revise, program: Program): Promise<number> {
  const stem = (typed.follows ? stemOfFollowed : stemFor)(typed.script, new Results(process.cwd()));
  const source = typed.script === "-" ? "stdin" : typed.script;
  // To its users a line that begins with #@ is a comment.
  const isReading = typed.voice !== "simple_gpu_scheduler";
  const read = isReading
    ? arrivingOptions({ name: source, revise, env: process.env, workingDir: process.cwd() })
    : null;
  const feed = await jobFeedFor({ ...typed, stem, read }, process.stdin);
  if (feed !== null)
    return executeJobs({ jobs: [] }, { options: typed, stem: feed.order.stem, program, feed });
  const { options, ...given } = await readScript({ script: typed.script, stem, revise, env: process.env });
  return executeJobs(given, { options, stem, program });
}

export async function executeJobs(given: GivenJobs, asked: Asked): Promise<number> {
  const { options, stem, feed } = asked;
  const surroundings = readSurroundings();
  const notice = noticeOf(options.notify);
  if (notice !== null) hideArguments(stem);
  if (options.isDryRun) {
    const machines = await machinesFor(options, surroundings);
    const { jobs } = resolveJobs(given, options, surroundings);
    return dryRun({ jobs, machines, options, surroundings });
  }
  const results = new Results(surroundings.cwd);
  if (feed === undefined) {
    const code = await askAgain(given, { ...asked, notice, surroundings }, results);
    if (code !== null) return code;
  }
  const order = await orderForJobs(given, options, surroundings);
  await results.prepare();
  const takesStdin = feed?.takesStdin ?? false;
  return followHere({
    order: { ...order, stem, feed: feed?.order ?? null, results },
    surroundings,
    options: { ...options, isTyped: takesStdin && process.stdin.isTTY },
    connector: lastingConnector(surroundings, options, note, !takesStdin),
    feed: feed?.bring,
    takesStdin,
    notice,
    detaches: options.detaches,
  });
}
