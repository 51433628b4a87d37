// The claims on a machine: of this account's older slots from their spools, of all accounts from their claim files.

import type { Claim, ClaimedCard } from "../../model/machine.js";
import { cardProcesses } from "./card-processes.js";
import { parseClaimFile } from "./parse-claim-file.js";
import { parseClaims, residentMbByKey } from "./parse-claims.js";
import { cleanText, type Facts, factsOf } from "./probe-facts.js";

export function parseAllClaims(facts: Facts): Claim[] {
  return [...parseClaims(facts), ...fileClaims(facts)];
}

/** `claim-file <id> <own 0|1> <owner> <name>`, and `claim-line <id> <text>` for each of its lines. */
function fileClaims(facts: Facts): Claim[] {
  const residentMb = residentMbByKey(facts);
  const texts = textsById(facts);
  const pids = pidsById(facts);
  return factsOf(facts, "claim-file").flatMap((line) => {
    const [id = "", own, owner = "", ...name] = line.split(" ");
    const file = parseClaimFile(texts.get(id) ?? "");
    if (file === null) return [];
    const { loopPid: _, ...claimed } = file;
    const [, spool = "", slot = ""] = /^(.*)\.([^.]*)$/.exec(name.join(" ")) ?? [];
    return {
      ...claimed,
      owner: own === "1" ? "" : cleanText(owner),
      batch: claimed.batch === "" ? cleanText(spool.replace(/@[^@]*$/, "")) : claimed.batch,
      slot: cleanText(slot),
      residentMb: residentMb.get(id) ?? 0,
      cards: claimed.cards.map((card) => ({ ...card, usedMb: usedMb(card, pids.get(id), facts) })),
    };
  });
}

function textsById(facts: Facts): Map<string, string> {
  const texts = new Map<string, string>();
  for (const line of factsOf(facts, "claim-line")) {
    const [id = ""] = line.split(" ", 1);
    texts.set(id, `${texts.get(id) ?? ""}${line.slice(id.length + 1)}\n`);
  }
  return texts;
}

/** `claim-root <id> <pid>`: the loop of its slot, or the leader of its job. */
function pidsById(facts: Facts): Map<string, Set<string>> {
  const pids = new Map<string, Set<string>>();
  for (const line of factsOf(facts, "claim-root")) {
    const [id = "", pid = ""] = line.split(" ");
    pids.set(id, new Set([...(pids.get(id) ?? []), pid]));
  }
  return pids;
}

/** What the job's processes hold of a card; null: not known. */
function usedMb({ uuid }: ClaimedCard, pids: ReadonlySet<string> = new Set(), facts: Facts): number | null {
  const processes = cardProcesses(facts);
  if (processes === null || pids.size === 0) return null;
  const own = processes.filter((each) => each.uuid === uuid && each.lineage.some((pid) => pids.has(pid)));
  return own.reduce<number | null>(
    (sum, { memoryMb }) => (sum === null || memoryMb === null ? null : sum + memoryMb),
    0,
  );
}
