// Runs an awk program of the runtime on many inputs, in one process per awk.

import { execFileSync } from "node:child_process";
import { joinScript } from "../../src/remote/join-script.js";
import { makeWorkspace } from "./workspace.js";

/** mawk is Debian's, gawk Fedora's, busybox Alpine's. */
export const AWKS = ["mawk", "gawk", "gawk --posix", "busybox awk"] as const;

const runtime = new URL("../../src/remote/runtime/", import.meta.url);

/** The output for each input. */
export async function runAwk(awk: string, program: string, inputs: readonly string[]): Promise<string[]> {
  const files = await makeWorkspace();
  try {
    await files.write("program.awk", joinScript(new URL(program, runtime)));
    for (const [at, input] of inputs.entries()) await files.write(`input.${at}`, input);
    const loop = `i=0; while [ -e input.$i ]; do ${awk} -f program.awk input.$i 2>&1; echo =; i=$((i + 1)); done`;
    const output = execFileSync("sh", ["-c", loop], { cwd: files.dir, encoding: "utf8" });
    return output.split(/^=\n/m).slice(0, -1);
  } finally {
    await files.remove();
  }
}
