// Respects a CUDA_VISIBLE_DEVICES that is set in the machine's own environment.

import type { Gpu } from "../../model/machine.js";
import { cleanText } from "./probe-facts.js";

/** `value` is null if the variable is not set and all cards may be used. */
export function hideInvisible(gpus: readonly Gpu[], value: string | null, variable: string): Gpu[] {
  if (value === null) return [...gpus];
  const visible = visibleGpus(gpus, value);
  const reason = `is hidden by ${variable}=${cleanText(value)}`;
  return gpus.map((gpu) => (visible.has(gpu) ? gpu : { ...gpu, unusable: gpu.unusable ?? reason }));
}

/** Indices, or beginnings of UUIDs. As in CUDA, the first word that matches no card ends the list. */
function visibleGpus(gpus: readonly Gpu[], value: string): Set<Gpu> {
  const visible = new Set<Gpu>();
  for (const word of value.split(",").map((part) => part.trim())) {
    const named = gpus.filter((gpu) => isNamed(gpu, word, gpus));
    if (named.length === 0) break;
    for (const gpu of named) visible.add(gpu);
  }
  return visible;
}

/** The name of a card includes its MIG slices. */
function isNamed(gpu: Gpu, word: string, gpus: readonly Gpu[]): boolean {
  if (/^\d+$/.test(word)) return gpu.index === Number(word);
  if (!/^(GPU|MIG)-./.test(word)) return false;
  const card = gpus.find(({ index, isMig }) => index === gpu.index && !isMig);
  return gpu.uuid.startsWith(word) || (gpu.isMig && card?.uuid.startsWith(word) === true);
}
