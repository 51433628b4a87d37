// Stores the directories in which jobs will run, as they are now, before the jobs are added.

import path from "node:path";
import { NO_MEANING, resolveBackwards, resolveForward } from "../../../batch/forward/copy-paths.js";
import { type Problem, problemsError } from "../../../errors.js";
import type { JobAsk } from "../../../model/queue.js";
import type { Tree } from "../../../remote/tree/tree.js";
import { formatBytes } from "../../../report/text/amounts.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import { freezeTree } from "../../../service/trees/freeze-tree.js";
import { openTreeStore } from "../../../service/trees/tree-store.js";
import type { AskedJob } from "../../options/queue/job-ask.js";
import { note } from "../../terminal/note.js";

interface Freezing {
  readonly client: ServiceClient;
  readonly queueCwd: string | null;
  /** Not only jobs with paths of their own. */
  readonly isForAll: boolean;
}

/** Throws UserError with every mistake in the paths. */
export async function freezeJobs(
  jobs: readonly AskedJob[],
  { client, queueCwd, isForAll }: Freezing,
): Promise<readonly JobAsk[]> {
  const problems: Problem[] = [];
  const planned = jobs.map((job) => {
    // What is sent to another computer is this directory.
    const cwd = client.door.isHere ? (job.ask.cwd ?? queueCwd ?? process.cwd()) : process.cwd();
    return {
      job,
      cwd,
      paths: isForAll || job.forward !== null ? forwardOf(job, { cwd, client, problems }) : null,
    };
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
    const tree = trees.get(key) ?? freeze(cwd, paths, client);
    trees.set(key, tree);
    return tree;
  };
  const asks: JobAsk[] = [];
  for (const { ask, cwd, paths } of withBack)
    asks.push(paths === null ? ask : { ...ask, terms: { ...ask.terms, tree: await treeOf(cwd, paths) } });
  return asks;
}

interface Reading {
  readonly cwd: string;
  readonly client: ServiceClient;
  readonly problems: Problem[];
}

/** Without paths, `--copy-forward` copies nothing here. For another computer it says that this directory is sent. */
function forwardOf({ forward }: AskedJob, { cwd, client, problems }: Reading): readonly string[] {
  const isWhole = forward === null || (forward.length === 0 && !client.door.isHere);
  const named = isWhole ? ["."] : forward;
  return [...new Set(resolveForward(named, { workingDir: cwd, problems }))].sort();
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

async function freeze(dir: string, paths: readonly string[], client: ServiceClient): Promise<string> {
  if (!client.door.isHere) return send(dir, paths, client);
  const store = openTreeStore(path.join(client.service.state, "trees"));
  const tree = await freezeTree({ store, dir, paths, now: Date.now() });
  note(`froze ${describe(tree)}`);
  return tree.hash;
}

async function send(dir: string, paths: readonly string[], client: ServiceClient): Promise<string> {
  const { sendTree } = await import("../../../service/client/send-tree.js");
  const { tree, sentBytes } = await sendTree(client, dir, paths);
  note(
    `sent ${describe(tree)}: ${sentBytes === 0 ? "all of it was there" : `${formatBytes(sentBytes)} were new`}`,
  );
  return tree.hash;
}

function describe({ entries, bytes, leftOut }: Tree): string {
  const files = entries.filter(({ type }) => type === "File").length;
  const without = leftOut.length === 0 ? "" : `, without ${leftOut.join(", ")}`;
  return `${files} ${files === 1 ? "file" : "files"}, ${formatBytes(bytes)}${without}`;
}
