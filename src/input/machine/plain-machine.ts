// Machines without a machine file.

import type { Address, MachineSpec } from "../../model/machine.js";
import { NOTHING_KEPT } from "./machine-file.js";

/** Without limits and setup. */
export function plainMachine(name: string, address: Address): MachineSpec {
  return {
    name,
    address,
    file: null,
    gpus: null,
    excludeGpus: [],
    maxJobs: null,
    scratch: null,
    env: {},
    setup: [],
    hasPlainSlots: false,
    keepFree: NOTHING_KEPT,
  };
}

/** The machine that is used if none is named: this computer, without ssh. */
export function localMachine(): MachineSpec {
  return plainMachine("localhost", { kind: "local" });
}
