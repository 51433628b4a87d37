// What the state of a run says about a machine, in the words of the API.

import type { MachineState } from "../model/batch-state.js";
import type { JobId } from "../model/job.js";
import type { QueueMachine } from "./queue-service.js";

export function runningOn({ current }: MachineState): JobId[] {
  return [...current.running].map(({ job }) => job);
}

export function machinePhase({ phase }: MachineState): QueueMachine["phase"] {
  switch (phase) {
    case "new":
    case "connecting":
      return "connecting";
    case "ready":
    case "finishing":
    case "done":
      return "ready";
    case "lost":
      return "unreachable";
    case "failed":
      return "failed";
    default:
      return phase satisfies never;
  }
}
