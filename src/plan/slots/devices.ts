// The environment variables that choose which cards a job sees.

import type { Requirement } from "../../model/job.js";
import type { Slot } from "../../model/machine.js";

export function deviceEnv({ gpus }: Slot, requirement: Requirement): Record<string, string> {
  const [first] = gpus;
  if (requirement.gpu === null || requirement.reservesMachine || first === undefined) return {};
  const indices = gpus.map(({ index }) => index).toSorted((a, b) => a - b);
  // Setting HIP's variable as well can hide every card.
  if (first.vendor === "amd") return { ROCR_VISIBLE_DEVICES: indices.join(",") };
  // Names whole cards by index, because UUIDs break some programs. CUDA's default order is fastest first, the probe's
  // is by PCI bus.
  const words = gpus.some(({ isMig }) => isMig) ? gpus.map(({ uuid }) => uuid) : indices;
  return { CUDA_VISIBLE_DEVICES: words.join(","), CUDA_DEVICE_ORDER: "PCI_BUS_ID" };
}
