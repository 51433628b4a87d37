// Joins a script of the runtime with its parts. The build does this once for dist/, tests each time they read a script.

import { readFileSync } from "node:fs";

/** Replaces each line like `. ./slot/loop.sh` by the text of that file. */
export function joinScript(file: URL): string {
  return readFileSync(file, "utf8").replaceAll(/^\. \.\/([\w-]+\/[\w-]+\.sh)\n/gm, (_, part: string) => {
    return `${readFileSync(new URL(part, file), "utf8")}\n`;
  });
}
