// Chooses the reporter: JSON if requested, the live view on a terminal, plain lines otherwise.

import { createBareReporter } from "../../report/lines/bare-output.js";
import { createJsonReporter } from "../../report/lines/json-lines.js";
import { createPlainReporter } from "../../report/lines/plain.js";
import { createSimpleReporter } from "../../report/lines/simple.js";
import { abilitiesOf } from "../../report/live/abilities.js";
import type { Reporter, Sources } from "../../report/reporter.js";
import type { Voice } from "../options/run-options.js";

export interface ReporterChoice {
  readonly isJson: boolean;
  readonly isVerbose: boolean;
  /** A person types commands on the terminal: nothing is drawn over them. */
  readonly isTyped?: boolean;
  /** Also show the output of jobs. */
  readonly tees: boolean;
  /** Absent: our own. */
  readonly voice?: Voice;
}

/** The live view is loaded only if there is a terminal to draw on. */
export async function createReporter(
  { isJson, isVerbose, isTyped, voice }: ReporterChoice,
  sources: Sources,
): Promise<Reporter> {
  const { stdout, stderr } = process;
  if (isJson) return createJsonReporter(stdout);
  if (voice === "execute_remote") return createBareReporter({ stdout, stderr, isVerbose });
  const { isTTY = false, columns, rows } = stdout;
  const abilities = abilitiesOf({ isTTY, columns, rows, env: process.env });
  const plain = { ...sources, stdout, stderr, useUnicode: abilities.useUnicode };
  if (voice === "simple_gpu_scheduler") return createSimpleReporter(plain);
  if (!abilities.canRedraw || isVerbose || isTyped) return createPlainReporter({ ...plain, isVerbose });
  const { createTerminalReporter } = await import("../../report/live/terminal.js");
  return createTerminalReporter({ ...sources, ...abilities, stream: stdout, now: Date.now });
}
