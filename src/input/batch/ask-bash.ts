// Asks the local bash whether it accepts a text. Nothing of it is run (-n).

import { spawn } from "node:child_process";
import { UserError } from "../../errors.js";
import { type BashVerdict, parseBashVerdict } from "./bash-verdict.js";

export type AskBash = (text: string) => Promise<BashVerdict>;

/** More than any message. */
const MOST_CHARACTERS = 1 << 16;

/** `bash` is a name on the PATH, or a path. */
export function bashAt(bash: string): AskBash {
  let isThere = true;
  return async (text) => {
    if (!isThere) return { kind: "unasked" };
    const verdict = await ask(bash, text);
    isThere = verdict.kind !== "unasked";
    return verdict;
  };
}

function ask(bash: string, text: string): Promise<BashVerdict> {
  return new Promise((resolve, reject) => {
    // The user's start-up files, options and language must not change the answer.
    const env = { PATH: process.env.PATH, LC_ALL: "C" };
    const child = spawn(bash, ["--norc", "--noprofile", "-n"], { env, stdio: ["pipe", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      if (stderr.length < MOST_CHARACTERS) stderr += piece;
    });
    // bash stops reading at the first mistake.
    child.stdin.on("error", () => {});
    child.stdin.end(text.endsWith("\n") ? text : `${text}\n`);
    child.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "EACCES") resolve({ kind: "unasked" });
      else reject(new UserError(`cannot start bash on this computer: ${error.message}`, { cause: error }));
    });
    child.on("close", (code) => resolve(parseBashVerdict(code ?? 1, stderr)));
  });
}
