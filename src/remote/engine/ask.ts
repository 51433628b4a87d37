// One request to a machine: a script that answers in lines, the last of them "done". Only that word means success: an
// exit code or the end of the stream can also come from a dropped connection.

import type { Readable } from "node:stream";
import { runScript } from "../../transport/script/run-script.js";
import type { Session } from "../../transport/session.js";
import { type RemoteError, remoteErrorFrom } from "./remote-error.js";

export interface Question {
  /** For the error message: "handing over". */
  readonly doing: string;
  readonly script: string;
  readonly stdin?: Buffer | Readable;
  readonly signal?: AbortSignal;
  /** A longer answer is an error; absent: a few MB. */
  readonly maxBytes?: number;
}

/** The answers before "done". */
export async function ask(session: Session, question: Question): Promise<string[]> {
  const { answers, failure } = await tryToAsk(session, question);
  if (failure !== null) throw failure;
  return answers;
}

/** The same, but also returns the answers before a failure. */
export async function tryToAsk(
  session: Session,
  question: Question,
): Promise<{ readonly answers: string[]; readonly failure: RemoteError | null }> {
  const { doing, script, ...options } = question;
  const { stdout, stderr, end } = await runScript(session, script, options);
  const answers = stdout.trimEnd().split("\n");
  if (answers.at(-1) === "done") return { answers: answers.slice(0, -1), failure: null };
  return { answers, failure: remoteErrorFrom(doing, end.kind === "lost" ? end.reason : stderr) };
}
