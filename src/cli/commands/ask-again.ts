// A batch's own command, typed while another client follows the batch: that client reads the script again, and this one
// watches.

import { reachFollower } from "../../batch/follower/ask-follower.js";
import type { Surroundings } from "../../batch/surroundings.js";
import { ExitCode } from "../../errors.js";
import type { Notice } from "../../model/notice.js";
import type { Results } from "../../run/home/results.js";
import type { Program } from "../options/options.js";
import type { RunOptions } from "../options/run-options.js";
import { note } from "../terminal/note.js";
import { leaveNotice } from "../terminal/notices.js";
import { watchHere } from "../terminal/watch-here.js";
import type { GivenJobs } from "./typed-order.js";

interface Asked {
  readonly options: RunOptions;
  readonly stem: string;
  readonly program: Program;
  readonly notice: Notice | null;
  readonly surroundings: Surroundings;
}

/** Null: no client follows it that can be asked. Throws UserError if it refuses. */
export async function askAgain(given: GivenJobs, asked: Asked, results: Results): Promise<number | null> {
  const { options, stem, program, notice, surroundings } = asked;
  const follower = await reachFollower(results, stem);
  if (follower === null) return null;
  try {
    await follower.ask({ kind: "reread", program, argv: process.argv.slice(2), env: envOf(given, options) });
    note(`process ${follower.pid} follows this batch, and has read it again`);
    leaveNotice(surroundings, stem, notice);
    if (options.detaches) return ExitCode.Success;
    return await watchHere({ follower, results, stem, options });
  } finally {
    follower.close();
  }
}

/** Values that --env takes from this shell. */
function envOf({ jobEnv }: GivenJobs, { env }: RunOptions): Record<string, string> {
  return Object.assign({}, env, ...(jobEnv?.values() ?? []));
}
