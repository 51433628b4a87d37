// Joins a script of the runtime with its parts. The build does it once for dist/; tests do it each time they read a script.

import { readFileSync } from "node:fs";

/** Where a script says `. ./slot/loop.sh`, that file's text takes the place of the line. */
export function joinScript(file: URL): string {
  return readFileSync(file, "utf8").replaceAll(/^\. \.\/([\w-]+\/[\w-]+\.sh)\n/gm, (_, part: string) => {
    return `${readFileSync(new URL(part, file), "utf8")}\n`;
  });
}
