// Cards in the table of `sshoal probe`: one line each, aligned over all machines.

import type { CardHolder, Gpu } from "../../model/machine.js";
import { printable } from "../text/printable.js";
import { fitWidth, padWidth, textWidth } from "../text/width.js";
import { wrap } from "../text/wrap.js";

const INDENT = "  ";
const GAP = "  ";
const NARROWEST_NAME = 8;

/** For all cards of the table at once; cuts the cards' names, never the measured values. */
export function cardFormat(cards: readonly Gpu[], columns: number): (gpu: Gpu) => string[] {
  const usable = cards.filter(({ unusable }) => unusable === null);
  const label = widest(cards.map(labelOf));
  const memory = widest(usable.map(memoryOf));
  const use = widest(usable.map(useOf));
  const rest = columns - label - memory - use - textWidth(INDENT + GAP + GAP + GAP);
  const name = Math.min(widest(cards.map(nameOf)), Math.max(NARROWEST_NAME, rest));
  return (gpu) => {
    const start = `${INDENT}${padWidth(labelOf(gpu), label)}${GAP}${padWidth(fitWidth(nameOf(gpu), name), name)}${GAP}`;
    if (gpu.unusable !== null) return hanging(start, `not used: it ${gpu.unusable}`, columns);
    const line = `${start}${memoryOf(gpu).padStart(memory)}${GAP}${useOf(gpu).padStart(use)}`;
    return [line, ...holderLines(gpu, columns)];
  };
}

/** `used by alice (python, 4000 MB), you (train, 1800 MB)` */
function holderLines({ holders = [] }: Gpu, columns: number): string[] {
  if (holders.length === 0) return [];
  return hanging(INDENT.repeat(2), `used by ${holders.map(holderText).join(", ")}`, columns);
}

function holderText({ pid, user, program, memoryMb, isClaimed }: CardHolder): string {
  const owner = isClaimed ? "a job of yours" : printable(user) || "unknown";
  const what = printable(program) || (pid === 0 ? "a process" : `process ${pid}`);
  return `${owner} (${memoryMb === null ? what : `${what}, ${memoryMb} MB`})`;
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map(textWidth));
}

function hanging(start: string, text: string, columns: number): string[] {
  const below = " ".repeat(textWidth(start));
  return wrap(text, columns - below.length).map((line, index) => (index === 0 ? start : below) + line);
}

function labelOf({ index, isMig }: Gpu): string {
  return isMig ? `GPU ${index} MIG` : `GPU ${index}`;
}

function nameOf({ name }: Gpu): string {
  return printable(name);
}

function memoryOf(gpu: Gpu): string {
  if (gpu.memoryFreeMb === null) return gpu.sharesHostMemory ? "memory of the machine" : "memory unknown";
  return `${formatMemory(gpu.memoryFreeMb, gpu.memoryTotalMb)} free`;
}

function useOf({ utilization, holders }: Gpu): string {
  if (utilization === null) return "use unknown";
  const use = `${Math.round(utilization * 100)} % in use`;
  return utilization > 0 && holders?.length === 0 ? `${use}, no process seen` : use;
}

/** In MB, as in the options for memory. */
export function formatMemory(freeMb: number, totalMb: number | null): string {
  return totalMb === null ? `${freeMb} MB` : `${freeMb} of ${totalMb} MB`;
}
