// Reads AMD cards from sysfs, numbered as in ROCm: by their place among the nodes of the kfd topology.

import type { Gpu } from "../../model/machine.js";
import { cleanText, type Facts, factsOf, parseNumber } from "./probe-facts.js";

const AMD_VENDOR = "0x1002";
const BYTES_PER_MB = 2 ** 20;
/** By default the firmware gives an integrated GPU less than this much of the host's memory. */
const SMALLEST_CARD_MB = 2048;

/** `hasOtherCards`: an integrated GPU is ignored if there is a real card of any vendor. */
export function parseAmd(facts: Facts, hasOtherCards: boolean): Gpu[] {
  const cards = factsOf(facts, "amd")
    .map((line) => line.split(" "))
    .filter(([, node]) => parseNumber(node) !== null)
    .sort((a, b) => Number(a[1]) - Number(b[1]))
    .map(parseCard)
    .filter((card) => card !== null);
  const hasRealCard = hasOtherCards || cards.some(({ isIntegrated }) => !isIntegrated);
  return cards.filter(({ isIntegrated }) => !isIntegrated || !hasRealCard).map(({ gpu }) => gpu);
}

/** `renderD128 <node> <vendor> <unique_id> <total> <used> <busy> <device> <product name>`, with `-` for missing values. */
function parseCard(words: readonly string[], index: number): { gpu: Gpu; isIntegrated: boolean } | null {
  const [render = "", , vendor, id = "-", total, used, busy, device = "-", ...product] = words;
  if (vendor !== AMD_VENDOR) return null;
  const memoryTotalMb = toMb(parseNumber(total));
  const usedMb = toMb(parseNumber(used));
  const isKnown = memoryTotalMb !== null && usedMb !== null;
  const percent = parseNumber(busy, 100);
  const hasId = /^[\da-f]{1,16}$/i.test(id) && !/^0+$/.test(id);
  const gpu: Gpu = {
    vendor: "amd",
    index,
    uuid: hasId ? `GPU-${id}` : cleanText(render),
    name: nameOf(product.join(" "), device),
    memoryTotalMb,
    memoryFreeMb: isKnown ? Math.max(0, memoryTotalMb - usedMb) : null,
    utilization: percent === null ? null : percent / 100,
    unusable: null,
    isExclusive: false,
    sharesHostMemory: false,
    isMig: false,
  };
  return { gpu, isIntegrated: !hasId && (memoryTotalMb ?? 0) < SMALLEST_CARD_MB };
}

function nameOf(product: string, device: string): string {
  return product === "" || product === "-" ? `AMD GPU ${cleanText(device)}` : cleanText(product);
}

function toMb(bytes: number | null): number | null {
  return bytes === null ? null : Math.floor(bytes / BYTES_PER_MB);
}
