// Parses the output of nvidia-smi. It prints errors on stdout, sometimes with exit code 0. So a row is recognised only
// by its form, and every other line is kept as a message for the user.

import type { Gpu } from "../../model/machine.js";
import { parseListedCards, parseSlices, SPLIT } from "./parse-mig.js";
import { cleanText, type Facts, factsOf, parseNumber } from "./probe-facts.js";

interface CardsFound {
  readonly gpus: readonly Gpu[];
  /** Messages of the tool besides the cards. */
  readonly said: readonly string[];
}

export function parseNvidia(facts: Facts): CardsFound {
  const fields = (factsOf(facts, "smi-fields")[0] ?? "").split(",");
  const holders = new Set(factsOf(facts, "smi-process").map((line) => line.split(",")[0]?.trim()));
  const cards = new Map<string, Gpu>();
  const said = new Set<string>();
  for (const line of factsOf(facts, "smi")) {
    const gpu = parseRow(fields, line, holders);
    if (gpu !== null) cards.set(gpu.uuid, gpu);
    else if (line.trim() !== "") said.add(cleanText(line));
  }
  for (const listed of parseListedCards(facts)) {
    if (!cards.has(listed.uuid)) cards.set(listed.uuid, silentCard(listed));
  }
  const gpus = [...cards.values()].sort((a, b) => a.index - b.index);
  return { gpus: gpus.flatMap((gpu) => [gpu, ...parseSlices(facts, gpu)]), said: [...said] };
}

/** Cells are found by the field's name. The card's name is last, because it may contain commas. */
function parseRow(fields: readonly string[], line: string, holders: ReadonlySet<unknown>): Gpu | null {
  const words = line.split(",").map((word) => word.trim());
  const cells = new Map(fields.slice(0, -1).map((field, index) => [field, words[index] ?? ""]));
  const index = parseNumber(cells.get("index"), 1023);
  const uuid = cells.get("uuid") ?? "";
  if (words.length < fields.length || index === null || !/^GPU-[\w-]{1,64}$/.test(uuid)) return null;
  const mode = cells.get("compute_mode") ?? "";
  const isExclusive = mode.startsWith("Exclusive");
  return {
    vendor: "nvidia",
    index,
    uuid,
    name: cleanText(words.slice(fields.length - 1).join(", ")),
    ...readings(cells),
    unusable: whyUnusable(cells, isExclusive && holders.has(uuid)),
    isExclusive,
    isMig: false,
  };
}

function readings(cells: ReadonlyMap<string, string>) {
  const percent = parseNumber(cells.get("utilization.gpu"), 100);
  const memoryTotalMb = parseNumber(cells.get("memory.total"));
  const memoryFreeMb = parseNumber(cells.get("memory.free"), memoryTotalMb ?? undefined);
  const hasNoMemory = isNotAvailable(cells.get("memory.total")) && isNotAvailable(cells.get("memory.free"));
  return {
    memoryTotalMb,
    memoryFreeMb,
    utilization: percent === null ? null : percent / 100,
    // GB10, Jetson: everything except the memory can be read.
    sharesHostMemory: hasNoMemory && percent !== null,
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
