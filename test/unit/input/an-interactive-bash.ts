// Finds where an interactive bash begins a command: before each line it prints PS1, or PS2 if the command continues.

import { spawnSync } from "node:child_process";

const FIRST = "<first>";
const MORE = "<more>";

/** The lines, from 1, with which a command begins. Everything in the script is run: keep it harmless. */
export function commandStarts(script: string): number[] {
  const lines = script.split("\n");
  const { stderr } = spawnSync("bash", ["--norc", "--noprofile", "+H", "+m", "-i"], {
    input: `${script}\n`,
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C", PS1: FIRST, PS2: MORE },
    encoding: "utf8",
  });
  const prompts = stderr.match(new RegExp(`${FIRST}|${MORE}`, "g")) ?? [];
  return lines.flatMap((text, index) =>
    prompts[index] === FIRST && /^\s*[^\s#]/.test(text) ? [index + 1] : [],
  );
}
