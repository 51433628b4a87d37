// The environment variables that choose which cards a job sees.

import type { Requirement } from "../../model/job.js";
import type { Gpu, Slot } from "../../model/machine.js";

/** For cards that a slot named: by index or, if they are slices, by UUID. */
export function variablesFor(vendor: Gpu["vendor"], names: readonly string[]): Record<string, string> {
  // Setting HIP's variable as well can hide every card.
  if (vendor === "amd") return { ROCR_VISIBLE_DEVICES: names.join(",") };
  // CUDA's default order is fastest first, the probe's is by PCI bus.
  return { CUDA_VISIBLE_DEVICES: names.join(","), CUDA_DEVICE_ORDER: "PCI_BUS_ID" };
}

export function deviceEnv({ gpus }: Slot, requirement: Requirement): Record<string, string> {
  const [first] = gpus;
  if (requirement.gpu === null || requirement.reservesMachine || first === undefined) return {};
  const indices = gpus.map(({ index }) => index).toSorted((a, b) => a - b);
  // Names whole cards by index, because UUIDs break some programs.
  const names = gpus.some(({ isMig }) => isMig) ? gpus.map(({ uuid }) => uuid) : indices.map(String);
  return variablesFor(first.vendor, names);
}
