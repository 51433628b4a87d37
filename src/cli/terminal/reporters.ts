// Which reporter fits where the output goes: JSON if asked, the live view on a terminal, plain lines elsewhere.

import { createBareReporter } from "../../report/lines/bare-output.js";
import { createJsonReporter } from "../../report/lines/json-lines.js";
import { createPlainReporter, type PlainOptions } from "../../report/lines/plain.js";
import { createSimpleReporter } from "../../report/lines/simple.js";
import { abilitiesOf } from "../../report/live/abilities.js";
import type { Reporter } from "../../report/reporter.js";
import type { Voice } from "../options/run-options.js";

export interface ReporterChoice {
  readonly isJson: boolean;
  readonly isVerbose: boolean;
  /** Somebody types commands on the terminal: nothing is drawn over them. */
  readonly isTyped?: boolean;
  /** What jobs print is shown, too. */
  readonly tees: boolean;
  /** Left out: our own. */
  readonly voice?: Voice;
}

/** The live view is only loaded where there is a terminal to draw on. */
export async function createReporter(
  { isJson, isVerbose, isTyped, voice }: ReporterChoice,
  machines: readonly string[],
  devicesOf: PlainOptions["devicesOf"],
): Promise<Reporter> {
  const { stdout, stderr } = process;
  if (isJson) return createJsonReporter(stdout);
  if (voice === "simple_gpu_scheduler") return createSimpleReporter({ stdout, stderr, machines, devicesOf });
  if (voice === "execute_remote") return createBareReporter({ stdout, stderr, isVerbose });
  const { isTTY = false, columns, rows } = stdout;
  const abilities = abilitiesOf({ isTTY, columns, rows, env: process.env });
  if (!abilities.canRedraw || isVerbose || isTyped)
    return createPlainReporter({ stdout, stderr, machines, devicesOf, isVerbose });
  const { createTerminalReporter } = await import("../../report/live/terminal.js");
  return createTerminalReporter({ stream: stdout, machines, now: Date.now, ...abilities });
}
