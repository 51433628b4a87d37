// Finds MIG slices: `nvidia-smi -L` has their UUIDs, `nvidia-smi -q -x` their memory. The slice's number joins the two.

import type { Gpu } from "../../model/machine.js";
import { CARD_UUID, cleanText, type Facts, factsOf, parseNumber } from "./probe-facts.js";

/** Why the card itself gets no job. */
export const SPLIT = "is split into MIG slices";

interface ListedCard {
  readonly index: number;
  readonly uuid: string;
  readonly name: string;
  readonly slices: readonly ListedSlice[];
}

interface ListedSlice {
  readonly profile: string;
  readonly number: number;
  readonly uuid: string;
}

interface SliceMemory {
  readonly total: number | null;
  readonly free: number | null;
  /** The GPU instance that the memory belongs to; several compute instances may share it. */
  readonly instance: string | null;
}

const LISTED = new RegExp(String.raw`^GPU (\d{1,3}): (.*) \(UUID: (${CARD_UUID})\)`);

/** `GPU 0: NVIDIA A100 (UUID: GPU-…)`, and below it `  MIG 1g.5gb  Device  0: (UUID: MIG-…)`. */
export function parseListedCards(facts: Facts): ListedCard[] {
  const cards: (ListedCard & { slices: ListedSlice[] })[] = [];
  for (const line of factsOf(facts, "smi-card")) {
    const card = LISTED.exec(line);
    if (card?.[2] && card[3]) {
      cards.push({ index: Number(card[1]), name: cleanText(card[2]), uuid: card[3], slices: [] });
    }
    const slice = /^\s*MIG (\S+)\s+Device\s+(\d{1,2}): \(UUID: (MIG-[\w/-]{1,96})\)/.exec(line);
    if (slice?.[1] && slice[3]) {
      cards.at(-1)?.slices.push({ profile: slice[1], number: Number(slice[2]), uuid: slice[3] });
    }
  }
  return cards;
}

/** The slices of one card, each as a separate device; none if the card is not split. */
export function parseSlices(facts: Facts, card: Gpu): Gpu[] {
  const listed = parseListedCards(facts).findLast(({ uuid }) => uuid === card.uuid);
  if (listed === undefined || listed.slices.length === 0) return [];
  const memories = sliceMemories(factsOf(facts, "smi-slice")).get(card.uuid);
  // The driver reports processes by card, so it is not known which slice they are on.
  const { holders: _, ...shared } = card;
  return listed.slices.map(({ profile, number, uuid }) => ({
    ...shared,
    uuid,
    name: `${card.name} MIG ${cleanText(profile)}`,
    memoryTotalMb: memories?.get(number)?.total ?? null,
    memoryFreeMb: memories?.get(number)?.free ?? null,
    utilization: null,
    unusable: card.unusable === SPLIT ? null : card.unusable,
    isMig: true,
    ...groupOf(number, memories),
  }));
}

function groupOf(
  number: number,
  memories: ReadonlyMap<number, SliceMemory> | undefined,
): Pick<Gpu, "memoryGroup"> {
  const instance = memories?.get(number)?.instance ?? null;
  const sharing = [...(memories?.values() ?? [])].filter((each) => each.instance === instance);
  return instance === null || sharing.length < 2 ? {} : { memoryGroup: instance };
}

/** By card and slice. The card's uuid comes after its slices; bar1 memory looks just like the real one. */
function sliceMemories(lines: readonly string[]): Map<string, Map<number, SliceMemory>> {
  const byCard = new Map<string, Map<number, SliceMemory>>();
  for (const card of lines.join("\n").split(/<gpu id=/)) {
    const uuid = /<uuid>(GPU-[\w-]+)<\/uuid>/.exec(card)?.[1];
    if (uuid === undefined) continue;
    const slices = card.split("<mig_device>").slice(1);
    byCard.set(uuid, new Map(slices.map((slice) => [sliceNumber(slice), sliceMemory(slice, uuid)])));
  }
  return byCard;
}

function sliceNumber(slice: string): number {
  return parseNumber(/<index>(\d+)<\/index>/.exec(slice)?.[1], 99) ?? -1;
}

function sliceMemory(slice: string, card: string): SliceMemory {
  const [, memory = ""] = /<fb_memory_usage>(.*?)<\/fb_memory_usage>/s.exec(slice) ?? [];
  const total = parseNumber(/<total>(\d+) MiB<\/total>/.exec(memory)?.[1]);
  const free = parseNumber(/<free>(\d+) MiB<\/free>/.exec(memory)?.[1], total ?? undefined);
  const id = /<gpu_instance_id>(\d{1,3})<\/gpu_instance_id>/.exec(slice)?.[1];
  return { total, free, instance: id === undefined ? null : `${card}/${id}` };
}
