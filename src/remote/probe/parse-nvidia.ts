// Parses the output of nvidia-smi. It prints errors on stdout, sometimes with exit code 0. So a row is recognised only
// by its form, and every other line is kept as a message for the user.

import type { Gpu } from "../../model/machine.js";
import { type HoldersOf, parseHolders } from "./parse-holders.js";
import { parseListedCards, parseSlices, SPLIT } from "./parse-mig.js";
import { CARD_UUID, cleanText, type Facts, factsOf, parseNumber } from "./probe-facts.js";

interface CardsFound {
  readonly gpus: readonly Gpu[];
  /** Messages of the tool besides the cards. */
  readonly said: readonly string[];
}

/** What a row is read with. */
interface RowContext {
  readonly fields: readonly string[];
  readonly holdersOf: HoldersOf;
  /** The machine is a Jetson, by its device tree. */
  readonly isTegra: boolean;
}

export function parseNvidia(facts: Facts): CardsFound {
  const fields = (factsOf(facts, "smi-fields")[0] ?? "").split(",");
  const context = { fields, holdersOf: parseHolders(facts), isTegra: facts.has("tegra") };
  const cards = new Map<string, Gpu>();
  const said = new Set<string>();
  for (const line of factsOf(facts, "smi")) {
    const gpu = parseRow(line, context);
    if (gpu !== null) cards.set(gpu.uuid, gpu);
    else if (line.trim() !== "") said.add(cleanText(line));
  }
  for (const listed of parseListedCards(facts)) {
    if (!cards.has(listed.uuid)) cards.set(listed.uuid, silentCard(listed));
  }
  const gpus = [...cards.values()].sort((a, b) => a.index - b.index);
  return { gpus: gpus.flatMap((gpu) => [gpu, ...parseSlices(facts, gpu)]), said: [...said] };
}

const UUID = new RegExp(`^${CARD_UUID}$`);
/** Boards whose GPU uses the host's memory; in a container the device tree cannot be read. */
const BOARDS = /\(nvgpu\)|\b(?:Orin|Thor|GB10)\b/;

/** Cells are found by the field's name; the card's name is last, since it may hold commas. */
function parseRow(line: string, { fields, holdersOf, isTegra }: RowContext): Gpu | null {
  const words = line.split(",").map((word) => word.trim());
  const cells = new Map(fields.slice(0, -1).map((field, index) => [field, words[index] ?? ""]));
  const index = parseNumber(cells.get("index"), 1023);
  const uuid = cells.get("uuid") ?? "";
  if (words.length < fields.length || index === null || !UUID.test(uuid)) return null;
  const name = cleanText(words.slice(fields.length - 1).join(", "));
  const mode = cells.get("compute_mode") ?? "";
  const isExclusive = mode.startsWith("Exclusive");
  const holders = holdersOf(uuid);
  return {
    vendor: "nvidia",
    index,
    uuid,
    name,
    ...readings(cells, isTegra || BOARDS.test(name)),
    unusable: whyUnusable(cells, isExclusive && holders !== undefined && holders.length > 0),
    isExclusive,
    isMig: false,
    ...(holders && { holders }),
  };
}

function readings(cells: ReadonlyMap<string, string>, isBoard: boolean) {
  const percent = parseNumber(cells.get("utilization.gpu"), 100);
  const memoryTotalMb = parseNumber(cells.get("memory.total"));
  const memoryFreeMb = parseNumber(cells.get("memory.free"), memoryTotalMb ?? undefined);
  const hasNoMemory = isNotAvailable(cells.get("memory.total")) && isNotAvailable(cells.get("memory.free"));
  return {
    memoryTotalMb,
    memoryFreeMb,
    utilization: percent === null ? null : percent / 100,
    // A card of which only the memory cannot be read has none of its own. Of a Jetson nothing can be read.
    sharesHostMemory: hasNoMemory && (percent !== null || isBoard),
  };
}

function isNotAvailable(cell: string | undefined): boolean {
  return /^\[?(N\/A|Not Supported)\]?$/i.test(cell ?? "");
}

/** A card that needs a reset shows 0 MiB used, so it would look like the emptiest card. */
function whyUnusable(cells: ReadonlyMap<string, string>, isHeld: boolean): string | null {
  const shown = ["memory.total", "memory.free", "utilization.gpu"].map((field) => cells.get(field) ?? "");
  const text = shown.join(" ").toLowerCase();
  if (text.includes("lost")) return "is lost (a reboot may bring it back)";
  if (text.includes("reset")) return "needs a reset";
  if (text.includes("unknown error") || text.includes("err!")) return "reports an error";
  if (cells.get("mig.mode.current") === "Enabled") return SPLIT;
  if (cells.get("compute_mode") === "Prohibited") return "has compute mode Prohibited";
  return isHeld ? "is held by a process (compute mode Exclusive_Process)" : null;
}

/** The card is listed, but nvidia-smi prints no row for it. */
function silentCard({ index, uuid, name }: { index: number; uuid: string; name: string }): Gpu {
  const unknown = { memoryTotalMb: null, memoryFreeMb: null, utilization: null, sharesHostMemory: false };
  const unusable = "does not answer";
  return { vendor: "nvidia", index, uuid, name, ...unknown, unusable, isExclusive: false, isMig: false };
}
