// The lines of an answer that carry its nonce. Other lines are output of start-up files. Only the end marker means
// success.

import { NO_HOME_EXIT_CODE } from "../../transport/script/bootstrap.js";
import type { Answer } from "../../transport/script/run-script.js";
import { cleanText } from "../probe/probe-facts.js";
import { isAtProcessLimit, PROCESS_LIMIT_HINT, RemoteError } from "./remote-error.js";

/**
 * Returns them without the nonce and the end marker. `failure`: the beginning of the error message if there is no end
 * marker.
 */
export function framedLines({ stdout, stderr, end }: Answer, nonce: string, failure: string): string[] {
  const lines = stdout.split("\n");
  const framed = lines
    .filter((line) => line.startsWith(`${nonce} `))
    .map((line) => line.slice(nonce.length + 1));
  if (framed.at(-1) === "done") return framed.slice(0, -1);
  if (end.kind === "lost") throw new RemoteError(`${failure}: ${cleanText(end.reason)}`);
  if (end.kind === "exited" && end.code === NO_HOME_EXIT_CODE) {
    throw new RemoteError(
      `${failure}: its home directory cannot be entered`,
      "log in to it and type: ls -ld ~; the machine's administrator can create it",
    );
  }
  const noise = lines.filter((line) => !line.startsWith(nonce));
  const said = [...stderr.split("\n"), ...noise].map(cleanText).find((line) => line !== "");
  if (said === undefined && framed.length === 0) {
    throw new RemoteError(
      `${failure}: the login shell ended without output and without running sh`,
      `a start-up file of the machine, such as ~/.bashrc, may exit, read its input or exec another shell; ${TRY}`,
    );
  }
  // A shell that cannot fork while its stderr is redirected ends like this.
  if (said === undefined && end.kind === "exited" && end.code !== 0)
    throw new RemoteError(
      `${failure}: its shell ended with code ${end.code} and gave no reason`,
      PROCESS_LIMIT_HINT,
    );
  if (isAtProcessLimit(stderr))
    throw new RemoteError(`${failure}: it said "${said}"`, PROCESS_LIMIT_HINT, { isRetryable: true });
  throw new RemoteError(
    said === undefined ? failure : `${failure}: it said "${said}"`,
    `the machine must be able to run a POSIX sh: ${TRY}`,
  );
}

const TRY = "try ssh with the command `sh -c 'echo fine'`";
