// Checks whether the cards answer, and what their modes mean for jobs.

import type { Check, Verdict } from "../model/examination.js";
import type { Capacity, Gpu } from "../model/machine.js";
import type { Patient } from "./patient.js";

export function checkGpus({ examination, requirement }: Patient): Check[] {
  const { capacity, facts } = examination;
  const isNeeded = requirement.gpu !== null;
  if (capacity.gpus.length === 0) return [noneCheck(capacity, isNeeded)];
  return [
    ...checkCards(capacity, isNeeded),
    ...checkModes(capacity.gpus),
    ...(isNeeded && capacity.gpus.some(({ vendor }) => vendor === "nvidia")
      ? [orderCheck(facts.cudaOrder)]
      : []),
  ];
}

const TRY = "log in to it and try: nvidia-smi";

/** A machine without cards is fine. If the tool fails, the machine has cards that cannot be used. */
function noneCheck({ gpuProblem }: Capacity, isNeeded: boolean): Check {
  const says = gpuProblem ?? "none was found";
  const isAbsent = says.startsWith("no NVIDIA driver (no nvidia-smi)");
  if (isNeeded) return gpu("bad", says, isAbsent ? "jobs that use no GPU: --no-gpu-required" : TRY);
  return isAbsent ? gpu("ok", `${says}; none is needed`) : gpu("warn", says, TRY);
}

function checkCards({ gpus, gpuProblem }: Capacity, isNeeded: boolean): Check[] {
  const devices = gpus.filter((card) => !isSplit(card, gpus));
  const sick = devices.filter(({ unusable }) => unusable !== null);
  const well = devices.length - sick.length;
  const summary = `${well} of ${devices.length} can be used`;
  return [
    well > 0 || !isNeeded ? gpu("ok", summary) : gpu("bad", summary, TRY),
    ...sick.map((card) => gpu("warn", `GPU ${card.index} is not used: it ${card.unusable}`, remedy(card))),
    ...(gpuProblem === null ? [] : [gpu("warn", gpuProblem, TRY)]),
  ];
}

function isSplit(card: Gpu, gpus: readonly Gpu[]): boolean {
  return !card.isMig && gpus.some(({ isMig, index }) => isMig && index === card.index);
}

const TRY_AMD = "log in there and try: sudo dmesg | grep amdgpu";

function remedy({ vendor, index, unusable }: Gpu): string {
  const words = unusable ?? "";
  if (words.includes("VISIBLE_DEVICES")) return "remove that variable from the machine's start-up files";
  if (words.includes("MIG"))
    return `make slices: sudo nvidia-smi mig -i ${index} -cgi 19 -C, or sudo nvidia-smi -i ${index} -mig 0`;
  if (words.includes("Prohibited")) return `sudo nvidia-smi -i ${index} -c DEFAULT`;
  if (words.includes("reset")) return `sudo nvidia-smi -i ${index} --gpu-reset`;
  return vendor === "amd" ? TRY_AMD : TRY;
}

/** Settings that are intended, but lead to fewer slots than expected. */
function checkModes(gpus: readonly Gpu[]): Check[] {
  const slices = gpus.filter(({ isMig }) => isMig).length;
  const exclusive = gpus.filter(({ isExclusive, isMig }) => isExclusive && !isMig).map(({ index }) => index);
  const shared = new Set(gpus.flatMap(({ memoryGroup }) => memoryGroup ?? []));
  return [
    ...gpus.filter(isFalseAlarm).map(falseAlarm),
    ...(gpus.some(({ sharesHostMemory }) => sharesHostMemory) ? [gpu("ok", UNIFIED)] : []),
    ...(shared.size === 0
      ? []
      : [gpu("ok", "MIG slices of one GPU instance share its memory, which counts once")]),
    ...(slices === 0
      ? []
      : [
          gpu(
            "ok",
            `${slices === 1 ? "a MIG slice" : `${slices} MIG slices`}, each a separate card; a job sees only one of them`,
          ),
        ]),
    ...(exclusive.length === 0
      ? []
      : [
          gpu(
            "ok",
            `compute mode Exclusive_Process on ${exclusive.join(", ")}: one job per card, even with --no-reserve-gpu`,
          ),
        ]),
  ];
}

const UNIFIED = "a GPU without memory of its own: --gpu-memory-required counts as memory of the machine";

/** Some drivers report use of an idle card. */
function isFalseAlarm({ utilization, holders, unusable }: Gpu): boolean {
  return unusable === null && (utilization ?? 0) > 0 && holders?.length === 0;
}

function falseAlarm({ index, utilization }: Gpu): Check {
  const percent = Math.round((utilization ?? 0) * 100);
  return gpu(
    "ok",
    `GPU ${index} reports ${percent} % in use, but no process is seen on it: its memory decides`,
  );
}

/** CUDA's own order is fastest first; ours has to be that of nvidia-smi. */
function orderCheck(order: string | null): Check {
  if (order === null || order === "PCI_BUS_ID")
    return { check: "CUDA order", verdict: "ok", says: "PCI_BUS_ID, as nvidia-smi counts", fix: null };
  return {
    check: "CUDA order",
    verdict: "ok",
    says: `CUDA_DEVICE_ORDER=${order} at login; jobs get PCI_BUS_ID instead, as nvidia-smi counts`,
    fix: null,
  };
}

function gpu(verdict: Verdict, says: string, fix: string | null = null): Check {
  return { check: "GPUs", verdict, says, fix };
}
