// Joins a script of the runtime with its parts, and leaves comments out: machines read a script in each slot. The build does
// this once for dist/, tests each time they read a script.

import { readFileSync } from "node:fs";

/** Replaces each line like `. ./slot/loop.sh`, or `@include "room/card-refusal.awk"` in awk, by the text of that file. */
export function joinScript(file: URL): string {
  const joined = readFileSync(file, "utf8").replaceAll(PART, (_, script?: string, program?: string) => {
    return `${readFileSync(new URL(script ?? program ?? "", file), "utf8")}\n`;
  });
  return joined.replaceAll(COMMENT, "");
}

const PART = /^(?:\. \.\/([\w-]+\/[\w-]+\.sh)|@include "([\w-]+\/[\w-]+\.awk)")\n/gm;
/** A line that only holds a comment, also within a program in quotes. */
const COMMENT = /^[ \t]*#.*\n/gm;
