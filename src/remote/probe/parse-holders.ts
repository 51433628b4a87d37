// Which processes are on which card, and which of them belong to jobs with a claim.

import type { CardHolder } from "../../model/machine.js";
import { cardProcesses, seenProcesses } from "./card-processes.js";
import { type Facts, factsOf } from "./probe-facts.js";

/** Undefined for a card: it is not known who uses it. */
export type HoldersOf = (uuid: string) => readonly CardHolder[] | undefined;

export function parseHolders(facts: Facts): HoldersOf {
  const isKnown = cardProcesses(facts) !== null;
  const claimed = claimPids(facts);
  const byCard = new Map<string, CardHolder[]>();
  for (const { uuid, lineage, ...process } of seenProcesses(facts)) {
    const holder = { ...process, isClaimed: lineage.some((pid) => claimed.has(pid)) };
    byCard.set(uuid, [...(byCard.get(uuid) ?? []), holder]);
  }
  return (uuid) => byCard.get(uuid) ?? (isKnown ? [] : undefined);
}

/** The loops of live claims, and the leaders of their jobs. */
function claimPids(facts: Facts): Set<string> {
  const older = factsOf(facts, "claim").flatMap((line) => {
    const [loopPid = "", , session = "-"] = line.split(" ");
    return session === "-" ? [loopPid] : [loopPid, session];
  });
  const roots = factsOf(facts, "claim-root").map((line) => line.split(" ")[1] ?? "");
  return new Set([...older, ...roots]);
}
