// What live slots of this user's batches have claimed on the machine.

import type { Claim } from "../../model/machine.js";
import { cleanText, type Facts, factsOf, parseNumber } from "./probe-facts.js";

export function parseClaims(facts: Facts): Claim[] {
  const residentMb = residentMbBySession(facts);
  const byLoop = new Map<string, Claim>();
  for (const line of factsOf(facts, "claim")) {
    const [loopPid = "", slot = "", session = "", ...words] = line.split(" ");
    const claim = parseClaim(slot, words, residentMb.get(session) ?? 0);
    // Two roots may be one directory under two names; one loop is one slot.
    if (claim !== null) byLoop.set(loopPid, claim);
  }
  return [...byLoop.values()];
}

/** The words of the claim file, then the spool's directory, which is `<batch>@<host>`. */
function parseClaim(slot: string, words: readonly string[], residentMb: number): Claim | null {
  const [memory, cpus, gpuMemory, gpuUse, reservesGpu, reservesMachine, cards = "-", ...spool] = words;
  const memoryMb = parseNumber(memory, 1e9);
  const cpuCount = parseNumber(cpus, 1e5);
  const gpuMemoryMb = parseNumber(gpuMemory, 1e9);
  const gpuUtilization = parseNumber(gpuUse, 100);
  if (memoryMb === null || cpuCount === null || gpuMemoryMb === null || gpuUtilization === null) return null;
  return {
    batch: cleanText(spool.join(" ").replace(/@[^@]*$/, "")),
    slot: cleanText(slot),
    memoryMb,
    residentMb,
    cpus: cpuCount,
    gpuUuids: cards === "-" ? [] : cards.split(",").filter((uuid) => uuid !== ""),
    gpuMemoryMb,
    gpuUtilization,
    reservesGpu: reservesGpu === "1",
    reservesMachine: reservesMachine === "1",
  };
}

/** `rss <session> <pages>`, one line for each process. */
function residentMbBySession(facts: Facts): Map<string, number> {
  const pageKb = parseNumber(factsOf(facts, "pagesize")[0], 65536) || 4;
  const resident = new Map<string, number>();
  for (const line of factsOf(facts, "rss")) {
    const [session = "", pages] = line.split(" ");
    resident.set(session, (resident.get(session) ?? 0) + (parseNumber(pages) ?? 0));
  }
  return new Map([...resident].map(([session, pages]) => [session, Math.ceil((pages * pageKb) / 1024)]));
}
