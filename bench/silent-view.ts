// A reporter of plain lines whose output is discarded, so that the cost of reporting is measured, too.

import { createPlainReporter } from "../src/report/lines/plain.js";
import type { Reporter } from "../src/report/reporter.js";

export function silentReporter(machines: readonly string[]): Reporter {
  const silent = { write: () => true };
  return createPlainReporter({
    stdout: silent,
    stderr: silent,
    machines,
    devicesOf: () => ({}),
    lastWordsOf: () => "",
    nextCommands: () => [],
    isVerbose: false,
    useUnicode: true,
  });
}
