// The sources of jobs that are in no script: stdin, or a growing file.

import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { UserError } from "../../errors.js";
import { followFile } from "../../input/feed/follow-file.js";
import { readTopOptions } from "../../input/feed/leading-options.js";
import { linesOf } from "../../input/feed/line-source.js";
import type { HaltRule } from "../../model/halt-rule.js";
import type { BatchRun } from "../../run/batch-run.js";
import type { FeedOrder } from "../../run/feed.js";
import { feedRun, type ReadOwnTerms } from "./feeding.js";

export interface JobFeed {
  readonly order: FeedOrder;
  /** Resolves when no more jobs will arrive. */
  bring(run: BatchRun, signal: AbortSignal): Promise<void>;
  /** stdin has the jobs, so no question can be asked on it. */
  readonly takesStdin: boolean;
}

interface Asked {
  /** As typed; "-": stdin. */
  readonly script: string;
  /** The prefix for the names of jobs from a file. */
  readonly stem: string;
  readonly follows: boolean;
  readonly isDryRun: boolean;
  readonly policy: { readonly halt?: HaltRule | null };
  /** Null: #@ lines are comments. */
  readonly read: ReadOwnTerms | null;
}

const STDIN = "-";

/** Null: the script has all jobs. */
export async function jobFeedFor(asked: Asked, stdin: Readable): Promise<JobFeed | null> {
  const { script, stem, follows, isDryRun, policy, read } = asked;
  if (script !== STDIN && !follows) return null;
  if (policy.halt?.unit === "percent") {
    throw new UserError(
      "--halt: a percentage needs the number of jobs, which is unknown until the last one arrives",
      {
        hint: `give a number: --halt ${policy.halt.when},${policy.halt.why}=3`,
      },
    );
  }
  if (script === STDIN) return stdinFeed(stdin, isDryRun, read);
  await expectFile(script);
  return {
    order: { stem, startsOver: false },
    bring: async (run, signal) => {
      const forAll = run.position === null || read === null ? [] : await readTopOptions(script);
      return feedRun(run, followFile(script, run.position, signal), { name: script, read, forAll });
    },
    takesStdin: false,
  };
}

function stdinFeed(stdin: Readable, isDryRun: boolean, read: ReadOwnTerms | null): JobFeed {
  if (isDryRun) {
    throw new UserError("--dry-run needs a script, not stdin", {
      hint: "cat > jobs.sh, then execute_batch jobs.sh --dry-run",
    });
  }
  return {
    order: { stem: "stdin", startsOver: true },
    bring: (run) => feedRun(run, linesOf(stdin), { name: "stdin", read }),
    takesStdin: true,
  };
}

async function expectFile(path: string): Promise<void> {
  const isFile = await stat(path).then(
    (status) => status.isFile(),
    () => false,
  );
  if (!isFile) throw new UserError(`${path}: there is no such file to follow`, { hint: `touch ${path}` });
}
