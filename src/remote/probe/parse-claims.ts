// Parses the claims in the spools of this user's batches: those of live slots of older formats.

import type { Claim, ClaimedCard } from "../../model/machine.js";
import { cleanText, type Facts, factsOf, parseNumber } from "./probe-facts.js";

export function parseClaims(facts: Facts): Claim[] {
  const residentMb = residentMbByKey(facts);
  const byLoop = new Map<string, Claim>();
  for (const line of factsOf(facts, "claim")) {
    const [loopPid = "", slot = "", session = "", ...words] = line.split(" ");
    const about = { owner: "", job: "", residentMb: residentMb.get(session) ?? 0 };
    const claim = parseClaim(slot, words, about);
    // Two roots may be one directory under two names. One loop is one slot.
    if (claim !== null) byLoop.set(loopPid, claim);
  }
  return [...byLoop.values()];
}

/** Undefined: it was not asked. */
export function accountOf(facts: Facts): string | undefined {
  return cleanText(factsOf(facts, "account")[0] ?? "") || undefined;
}

/** The words of the claim file, then the spool's directory, which is `<batch>@<host>`. */
function parseClaim(
  slot: string,
  words: readonly string[],
  about: Pick<Claim, "owner" | "job" | "residentMb">,
): Claim | null {
  const claimed = parseClaimWords(words.slice(0, CLAIM_WORDS));
  if (claimed === null) return null;
  const spool = words.slice(CLAIM_WORDS).join(" ");
  return {
    resources: [],
    batch: cleanText(spool.replace(/@[^@]*$/, "")),
    slot: cleanText(slot),
    ...about,
    ...claimed,
  };
}

const CLAIM_WORDS = 7;
const AMOUNT = /^(?:0|[1-9]\d{0,8})$/;
const FLAGS = /^[01][01]$/;

/** The first line of a claim. */
export type ClaimWords = Pick<Claim, "memoryMb" | "cpus" | "cards" | "reservesMachine">;

/** Parses the first line of a claim; null if it is none. docs/slot.md has the format. */
export function parseClaimWords(words: readonly string[]): ClaimWords | null {
  const [memory = "", cpuCount, gpuMemory = "", gpuUse, reservesGpu, reservesMachine, cards = "-"] = words;
  const cpus = parseNumber(cpuCount, 1e5);
  const share = parseNumber(gpuUse, 100);
  if (!AMOUNT.test(memory) || !AMOUNT.test(gpuMemory) || !FLAGS.test(`${reservesGpu}${reservesMachine}`))
    return null;
  if (cpus === null || share === null) return null;
  const uuids = cards === "-" ? [] : cards.split(",").filter((uuid) => uuid !== "");
  const card = { memoryMb: Number(gpuMemory), share, amount: reservesGpu === "1" ? 1 : 0, usedMb: null };
  return {
    memoryMb: Number(memory),
    cpus,
    cards: uuids.map((uuid): ClaimedCard => ({ uuid, ...card })),
    reservesMachine: reservesMachine === "1",
  };
}

/** `rss <key> <pages>`, one line per process. The key is a session, or the id of a claim file. */
export function residentMbByKey(facts: Facts): Map<string, number> {
  const pageKb = parseNumber(factsOf(facts, "pagesize")[0], 65536) || 4;
  const resident = new Map<string, number>();
  for (const line of factsOf(facts, "rss")) {
    const [key = "", pages] = line.split(" ");
    resident.set(key, (resident.get(key) ?? 0) + (parseNumber(pages) ?? 0));
  }
  return new Map([...resident].map(([key, pages]) => [key, Math.ceil((pages * pageKb) / 1024)]));
}
