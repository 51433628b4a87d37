// `sshoal completion`: prints the script for a shell that the build left beside the program.

import { readFileSync } from "node:fs";
import { ExitCode } from "../../errors.js";
import { COMPLETION_FILES } from "../help/completion-files.js";
import type { Shell } from "../options/completion-options.js";

export function printCompletion({ shell }: { readonly shell: Shell }): ExitCode {
  process.stdout.write(readFileSync(new URL(`./completion/${COMPLETION_FILES[shell]}`, import.meta.url)));
  return ExitCode.Success;
}
