// Reads AMD cards from sysfs, numbered as in ROCm: by their place among the nodes of the kfd topology.

import type { Gpu } from "../../model/machine.js";
import { cleanText, type Facts, factsOf, parseNumber } from "./probe-facts.js";

const AMD_VENDOR = "0x1002";
const BYTES_PER_MB = 2 ** 20;
/** By default the firmware gives an integrated GPU less than this much of the host's memory. */
const SMALLEST_CARD_MB = 2048;
/** Integrated GPUs that are there for a display have at most 16. */
const FEWEST_COMPUTE_UNITS = 20;
/** Printed for a file that the card fails to answer. */
const FAILED = "!";

interface AmdCards {
  readonly gpus: readonly Gpu[];
  /** There is nothing but an integrated GPU that is too small to compute with. */
  readonly hasOnlySmall: boolean;
}

interface Found {
  readonly gpu: Gpu;
  readonly isIntegrated: boolean;
  /** Null: unknown. */
  readonly computeUnits: number | null;
}

/** `hasOtherCards`: an integrated GPU is left out beside a real card of any vendor. */
export function parseAmd(facts: Facts, hasOtherCards: boolean): AmdCards {
  const answers = new Map(factsOf(facts, "amd").map((line) => [cardKey(line), line.split(" ")]));
  const found = factsOf(facts, "amd-card")
    .map(cardKey)
    .filter((key) => parseNumber(nodeOf(key)) !== null)
    .sort((a, b) => Number(nodeOf(a)) - Number(nodeOf(b)))
    .map(
      (key, index) =>
        parseCard(answers.get(key), index) ?? (answers.has(key) ? null : silentCard(key, index)),
    )
    .filter((card) => card !== null);
  const real = found.filter(({ isIntegrated }) => !isIntegrated);
  if (hasOtherCards || real.length > 0) return { gpus: real.map(({ gpu }) => gpu), hasOnlySmall: false };
  const large = found.filter(({ computeUnits }) => (computeUnits ?? 0) >= FEWEST_COMPUTE_UNITS);
  return { gpus: large.map(({ gpu }) => gpu), hasOnlySmall: found.length > 0 && large.length === 0 };
}

/** `renderD128 <node>` */
function cardKey(line: string): string {
  return line.split(" ", 2).join(" ");
}

function nodeOf(key: string): string | undefined {
  return key.split(" ")[1];
}

/**
 * `renderD128 <node> <SIMDs> <SIMDs per compute unit> <vendor> <unique_id> <total> <used> <busy> <GTT total> <GTT used>
 * <maker of its memory> <device> <product name>`, `-` for what is not there, `!` for what the card fails to answer.
 */
function parseCard(words: readonly string[] | undefined, index: number): Found | null {
  const [render = "", , simds, perUnit, vendor, id = "-", total, used, busy, ...rest] = words ?? [];
  const [gttTotal, gttUsed, memoryMaker = "-", device = "-", ...product] = rest;
  if (vendor !== AMD_VENDOR) return null;
  const own = memoryOf(total, used);
  const gtt = memoryOf(gttTotal, gttUsed);
  const hasId = /^[\da-f]{1,16}$/i.test(id) && !/^0+$/.test(id);
  const hasOwnChips = hasId || !["-", "unknown"].includes(memoryMaker);
  const isSmall =
    (own.totalMb ?? 0) < SMALLEST_CARD_MB || (!hasOwnChips && (gtt.totalMb ?? 0) > (own.totalMb ?? 0));
  const isIntegrated = !hasId && isSmall;
  const isUnified = isIntegrated && gtt.totalMb !== null;
  const memory = isUnified
    ? { totalMb: plus(own.totalMb, gtt.totalMb), freeMb: plus(own.freeMb, gtt.freeMb) }
    : own;
  const percent = parseNumber(busy, 100);
  const gpu: Gpu = {
    vendor: "amd",
    index,
    uuid: hasId ? `GPU-${id}` : cleanText(render),
    name: nameOf(product.join(" "), device),
    memoryTotalMb: memory.totalMb,
    memoryFreeMb: memory.freeMb,
    utilization: percent === null ? null : percent / 100,
    unusable: [total, used, busy].includes(FAILED) ? "fails to answer (a reboot may bring it back)" : null,
    isExclusive: false,
    sharesHostMemory: isUnified,
    isMig: false,
  };
  return { gpu, isIntegrated, computeUnits: computeUnitsOf(simds, perUnit) };
}

/** Its reader was still waiting when the time was up. */
function silentCard(key: string, index: number): Found {
  const unknown = { memoryTotalMb: null, memoryFreeMb: null, utilization: null, sharesHostMemory: false };
  const uuid = cleanText(key.split(" ")[0] ?? "");
  const kind = { vendor: "amd", index, uuid, name: "AMD GPU", isExclusive: false, isMig: false } as const;
  return {
    gpu: { ...kind, ...unknown, unusable: "does not answer" },
    isIntegrated: false,
    computeUnits: null,
  };
}

function memoryOf(total: string | undefined, used: string | undefined) {
  const totalMb = toMb(parseNumber(total));
  const usedMb = toMb(parseNumber(used));
  return { totalMb, freeMb: totalMb === null || usedMb === null ? null : Math.max(0, totalMb - usedMb) };
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function computeUnitsOf(simds: string | undefined, perUnit: string | undefined): number | null {
  const [count, per] = [parseNumber(simds), parseNumber(perUnit)];
  return count === null || !per ? null : count / per;
}

function nameOf(product: string, device: string): string {
  return product === "" || product === "-" ? `AMD GPU ${cleanText(device)}` : cleanText(product);
}

function toMb(bytes: number | null): number | null {
  return bytes === null ? null : Math.floor(bytes / BYTES_PER_MB);
}
