// Hints for a service that --server names: without it, a command that is typed next would act on the service of this computer.

import { UserError } from "../../../errors.js";
import { quoteIfNeeded } from "../../../transport/quote.js";

/** A command, up to a comma, a bracket or the end; not a sentence that begins with one. */
const COMMAND =
  /\bsshoal (?:queue list|queue create \S+|show|results|logs|why|wait|stop|retry|remove|resume|release|drain|undrain)(?: [^\s,;)-][^\s,;)]*)?(?: --state [\w,]*\w)?(?=$|[,;)])/g;

/** Runs the work. The commands in the hint of its mistake get the server that was typed. */
export async function hintElsewhere<T>(typed: string | null, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UserError) || typed === null || error.hint === undefined) throw error;
    const { message, exitCode, problems, cause } = error;
    const hint = withServer(error.hint, typed);
    throw new UserError(message, { hint, exitCode, problems, cause });
  }
}

/** Null: as it is. */
export function withServer(hint: string, typed: string | null): string {
  if (typed === null) return hint;
  return hint.replace(COMMAND, (command) => `${command} --server ${quoteIfNeeded(typed)}`);
}
