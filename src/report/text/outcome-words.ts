// Describes how an unsuccessful job ended: in two words, and with the last line it printed.

import type { FailureCause } from "../../model/failure.js";
import type { Outcome } from "../../model/job.js";
import { lastSaid } from "./printable.js";

const GPU_MEMORY =
  /\b(?:CUDA|HIP) out of memory\b|\bCUDA_ERROR_OUT_OF_MEMORY\b|\bRESOURCE_EXHAUSTED: .*memory/i;
/** What a shell prints before its message: the file of the job's command, which tells users nothing. */
const COMMAND_FILE = /^\/.*\/batches\/[^/]+\/jobs\/[^/]+\/(?:command|named): (?:line )?\d+: /;
/** What follows it in bash's report of a killed program: its pid, and blanks before its arguments. */
const KILLED = /^ *\d+ (\p{Lu}[\p{L} ]*?) {2,}(?=\S)/u;
/** The text before the amounts in PyTorch's message. */
const GPU_MEMORY_HEAD = /^.*\b(?:CUDA|HIP) out of memory\.?\s*(?=\S)/i;

/** Short, because each is a cell of a table. The question mark: it is likely, but not certain. */
const CAUSES: Readonly<Record<FailureCause, string>> = {
  "out-of-memory": "out of memory",
  "likely-out-of-memory": "out of memory?",
  "gpu-out-of-memory": "GPU memory",
  "disk-full": "disk full",
  "setup-failed": "setup failed",
};

/** `exit 1`, `GPU memory`, `SIGKILL`. `lastWords`: the end of its output. */
export function outcomeWords(outcome: Outcome, lastWords: string): string {
  switch (outcome.kind) {
    case "exited":
      if (outcome.cause !== undefined) return CAUSES[outcome.cause];
      // Slots of earlier versions do not look at the output.
      return outcome.code !== 0 && GPU_MEMORY.test(lastSaid(lastWords))
        ? "GPU memory"
        : `exit ${outcome.code}`;
    case "killed":
      return outcome.cause === undefined ? outcome.signal : CAUSES[outcome.cause];
    case "timed-out":
      return "timed out";
    case "stopped":
    case "lost":
      return outcome.kind;
    default:
      return outcome satisfies never;
  }
}

/** The reason as far as known: why the job was lost, or the last line of its output, safe to print. */
export function reasonWords(outcome: Outcome, lastWords: string): string {
  if (outcome.kind === "lost") return lastSaid(outcome.reason);
  if (outcome.kind === "stopped") return "";
  const said = lastSaid(lastWords).replace(GPU_MEMORY_HEAD, "");
  return COMMAND_FILE.test(said) ? said.replace(COMMAND_FILE, "").replace(KILLED, "$1: ") : said;
}
