// `execute_batch`: reads what was asked for, and follows it to its end.

import { stat } from "node:fs/promises";
import { type ExitCode, UserError } from "../errors.js";
import { followFile } from "../input/follow-file.js";
import { formatJobStem } from "../input/job-name.js";
import { linesOf } from "../input/line-source.js";
import { loadBatch } from "../input/load-batch.js";
import type { FeedOrder } from "../run/feed.js";
import { Results } from "../run/results.js";
import { resolveCopying } from "./copy-paths.js";
import { dryRun } from "./dry-run.js";
import { feedRun } from "./feeding.js";
import { type Following, followBatch } from "./follow-batch.js";
import { note } from "./note.js";
import type { RunOptions } from "./run-options.js";
import { machinesFor, openConnector, readSurroundings } from "./surroundings.js";
import { readTree } from "./working-directory.js";

const STDIN = "-";

export async function executeBatch(options: RunOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const feed = await feedOf(options);
  const jobs = feed === null ? await loadBatch(options.script) : [];
  const machines = await machinesFor(options, surroundings);
  const copying = resolveCopying(options, surroundings.cwd);
  if (options.isDryRun) return dryRun({ jobs, machines, options, surroundings });
  const tree = await readTree(surroundings, copying);
  const results = new Results(surroundings.cwd);
  await results.prepare();
  return followBatch({
    order: { ...options, jobs, feed, machines, ...copying, tree, results },
    surroundings,
    options: { ...options, isTyped: options.script === STDIN && process.stdin.isTTY },
    connector: openConnector(surroundings, options, note, options.script !== STDIN),
    feed: feedFrom(options),
    isEnough: (run, { kind }) => options.detaches && MAY_BE_ENOUGH.has(kind) && run.isHandedOver(),
  });
}

const MAY_BE_ENOUGH: ReadonlySet<string> = new Set(["jobs-handed-over", "run-resumed", "jobs-complete"]);

/** Null: the jobs are all in the script. */
async function feedOf({ script, follows, isDryRun }: RunOptions): Promise<FeedOrder | null> {
  if (script === STDIN && isDryRun) {
    throw new UserError("--dry-run looks at a script, not at stdin", {
      hint: "cat > jobs.sh, then execute_batch jobs.sh --dry-run",
    });
  }
  if (script === STDIN) return { stem: "stdin", startsOver: true };
  if (!follows) return null;
  await expectFile(script);
  return { stem: formatJobStem(script), startsOver: false };
}

async function expectFile(path: string): Promise<void> {
  const isFile = await stat(path).then(
    (status) => status.isFile(),
    () => false,
  );
  if (!isFile) throw new UserError(`${path}: there is no such file to follow`, { hint: `touch ${path}` });
}

function feedFrom({ script, follows }: RunOptions): Following["feed"] {
  if (script === STDIN) return (run) => feedRun(run, linesOf(process.stdin), "stdin");
  if (follows) return (run, signal) => feedRun(run, followFile(script, run.position, signal), script);
  return undefined;
}
