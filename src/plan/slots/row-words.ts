// Explains in a few words why a job waits, for one row: "needs 16 GB; gpu2:1 has 14.2 free (bob 9.8), gpu1 busy".

import type { Capacity } from "../../model/machine.js";
import { foreignHolders } from "./card-users.js";
import { memoryAfter, memoryWords } from "./memory-words.js";
import type { RefusedCard, Shortage } from "./shortage.js";
import { coresWords, countWords } from "./why-words.js";

export interface WaitOn {
  /** Its short name. */
  readonly machine: string;
  readonly shortages: readonly Shortage[];
  /** Who uses the machine; null: not known. */
  readonly capacity: Capacity | null;
}

/** What a job needs, if that is a number, and what the machine has of it. */
interface Part {
  readonly needs: string | null;
  readonly has: string;
}

/** `nameOf`: the name of a job, by its key. */
export function rowWords(waits: readonly WaitOn[], nameOf = (key: string) => key): string {
  const parts = waits.flatMap((wait) => {
    const [first] = wait.shortages;
    return first === undefined ? [] : [partFor(first, wait, nameOf)];
  });
  const lead = parts.find(({ needs }) => needs !== null)?.needs ?? null;
  const has = parts.map((part) =>
    part.needs === null || part.needs === lead ? part.has : `${part.has} (needs ${part.needs})`,
  );
  return `${lead === null ? "" : `needs ${lead}; `}${has.join(", ")}`;
}

/** The first shortage is the most important one. */
function partFor(shortage: Shortage, wait: WaitOn, nameOf: (key: string) => string): Part {
  const { machine } = wait;
  switch (shortage.kind) {
    case "memory": {
      const { neededMb, freeMb } = shortage;
      return {
        needs: `${memoryWords(neededMb, "up")} of memory`,
        has: `${machine} has ${memoryAfter(neededMb, freeMb, "down")} free`,
      };
    }
    case "cpus":
      return {
        needs: `${shortage.needed} cores`,
        has: `${machine} has room for ${coresWords(shortage.free)}`,
      };
    case "resource":
      return { needs: `${shortage.name} ${shortage.needed}`, has: `${machine} has ${shortage.free} free` };
    case "gpus":
      return cardsPart(shortage, wait);
    case "kept":
      return { needs: null, has: `${machine} kept for ${nameOf(shortage.key)}` };
    case "memory-unknown":
    case "cpus-unknown":
      return { needs: null, has: `${machine} cannot be measured` };
    default:
      return { needs: null, has: `${machine} busy` };
  }
}

function cardsPart(shortage: Extract<Shortage, { kind: "gpus" }>, { machine, capacity }: WaitOn): Part {
  const { needed, available, refused } = shortage;
  if (needed > 1) return { needs: countWords(needed), has: `${machine} has ${available}` };
  const [best] = refused.flatMap(withMemory).toSorted((a, b) => b.freeMb - a.freeMb);
  if (best !== undefined) {
    const has = `${machine}:${best.index} has ${memoryAfter(best.neededMb, best.freeMb, "down")} free`;
    return { needs: memoryWords(best.neededMb, "up"), has: `${has}${usersWords(best, capacity)}` };
  }
  const isBusy = refused.some(({ why }) => BUSY.has(why.kind));
  return {
    needs: isBusy ? null : countWords(needed),
    has: `${machine} ${isBusy ? "busy" : `has ${available}`}`,
  };
}

const BUSY: ReadonlySet<RefusedCard["why"]["kind"]> = new Set([
  "taken",
  "utilization",
  "amount",
  "all-listed",
  "exclusive-in-use",
  "other-person",
]);

interface SmallCard {
  readonly index: number;
  readonly neededMb: number;
  readonly freeMb: number;
}

function withMemory({ gpu, why }: RefusedCard): SmallCard[] {
  return why.kind === "memory" ? [{ index: gpu.index, neededMb: why.neededMb, freeMb: why.freeMb }] : [];
}

/** How much memory each person's processes have there: ` (bob 9.8)`. */
function usersWords({ index, neededMb }: SmallCard, capacity: Capacity | null): string {
  const holders = (capacity?.gpus ?? []).filter((gpu) => gpu.index === index).flatMap(foreignHolders);
  const byUser = new Map<string, number>();
  for (const { user, memoryMb } of holders)
    if (user !== "" && memoryMb !== null) byUser.set(user, (byUser.get(user) ?? 0) + memoryMb);
  const words = [...byUser].map(([user, mb]) => `${user} ${memoryAfter(neededMb, mb)}`);
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}
