// Stores the directories in which jobs will run, as they are now, before the jobs are added.

import path from "node:path";
import { NO_MEANING, resolveBackwards, resolveForward } from "../../../batch/forward/copy-paths.js";
import { type Problem, problemsError } from "../../../errors.js";
import type { JobAsk } from "../../../model/queue.js";
import { formatBytes } from "../../../report/text/amounts.js";
import { freezeTree } from "../../../service/trees/freeze-tree.js";
import { openTreeStore } from "../../../service/trees/tree-store.js";
import type { AskedJob } from "../../options/queue/job-ask.js";
import { note } from "../../terminal/note.js";

interface Freezing {
  /** Of the service. */
  readonly stateDir: string;
  readonly queueCwd: string | null;
  /** Not only jobs with paths of their own. */
  readonly isForAll: boolean;
}

/** Throws UserError with every mistake in the paths. */
export async function freezeJobs(
  jobs: readonly AskedJob[],
  { stateDir, queueCwd, isForAll }: Freezing,
): Promise<readonly JobAsk[]> {
  const problems: Problem[] = [];
  const planned = jobs.map((job) => {
    const cwd = job.ask.cwd ?? queueCwd ?? process.cwd();
    return { job, cwd, paths: isForAll || job.forward !== null ? forwardOf(job, cwd, problems) : null };
  });
  const withBack = planned.map(({ job, cwd, paths }) => ({
    ask: withBackwards(job, cwd, paths !== null, problems),
    cwd,
    paths,
  }));
  if (problems.length > 0) throw problemsError(problems);
  const trees = new Map<string, Promise<string>>();
  const treeOf = (cwd: string, paths: readonly string[]) => {
    const key = JSON.stringify([cwd, paths]);
    const tree = trees.get(key) ?? freeze(cwd, paths, stateDir);
    trees.set(key, tree);
    return tree;
  };
  const asks: JobAsk[] = [];
  for (const { ask, cwd, paths } of withBack)
    asks.push(paths === null ? ask : { ...ask, terms: { ...ask.terms, tree: await treeOf(cwd, paths) } });
  return asks;
}

function forwardOf({ forward }: AskedJob, workingDir: string, problems: Problem[]): readonly string[] {
  return [...new Set(resolveForward(forward ?? ["."], { workingDir, problems }))].sort();
}

function withBackwards(
  { ask, backwards }: AskedJob,
  workingDir: string,
  isFrozen: boolean,
  problems: Problem[],
): JobAsk {
  if (backwards === null) return ask;
  if (!isFrozen) {
    const hint = "add --freeze to give the job a copy of its directory";
    problems.push({ where: ask.command, message: `--copy-backwards ${NO_MEANING}`, hint });
    return ask;
  }
  return { ...ask, terms: { ...ask.terms, copyBack: resolveBackwards(backwards, { workingDir, problems }) } };
}

async function freeze(dir: string, paths: readonly string[], stateDir: string): Promise<string> {
  const store = openTreeStore(path.join(stateDir, "trees"));
  const { hash, entries, bytes, leftOut } = await freezeTree({ store, dir, paths, now: Date.now() });
  const files = entries.filter(({ type }) => type === "File").length;
  const without = leftOut.length === 0 ? "" : `, without ${leftOut.join(", ")}`;
  note(`froze ${files} ${files === 1 ? "file" : "files"}, ${formatBytes(bytes)}${without}`);
  return hash;
}
