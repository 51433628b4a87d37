// Describes how an unsuccessful job ended: in two words, and with the last line it printed.

import type { Outcome } from "../../model/job.js";
import { lastSaid } from "./printable.js";

const GPU_MEMORY =
  /\b(?:CUDA|HIP) out of memory\b|\bCUDA_ERROR_OUT_OF_MEMORY\b|\bRESOURCE_EXHAUSTED: .*memory/i;
/** The text before the amounts in PyTorch's message. */
const GPU_MEMORY_HEAD = /^.*\b(?:CUDA|HIP) out of memory\.?\s*(?=\S)/i;

/** `exit 1`, `GPU memory`, `SIGKILL`. `lastWords`: the end of its output. */
export function outcomeWords(outcome: Outcome, lastWords: string): string {
  switch (outcome.kind) {
    case "exited":
      return outcome.code !== 0 && GPU_MEMORY.test(lastSaid(lastWords))
        ? "GPU memory"
        : `exit ${outcome.code}`;
    case "killed":
      return outcome.signal;
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
  return outcome.kind === "stopped" ? "" : lastSaid(lastWords).replace(GPU_MEMORY_HEAD, "");
}
