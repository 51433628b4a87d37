// Who uses a card: processes, and jobs of sshoal that declared memory on it.

import type { Capacity, CardHolder, Claim, Gpu } from "../../model/machine.js";
import { memoryWords } from "./memory-words.js";

/** `alice's python 4 GB`, `sshoal job 14 declared 2 GB` */
export function cardUsers(index: number, { gpus, claims }: Capacity): string[] {
  const cards = gpus.filter((gpu) => gpu.index === index);
  return [
    ...cards.flatMap(foreignHolders).map(holderWords),
    ...claims.flatMap((claim) => {
      const declared = claim.cards.filter(
        ({ uuid, memoryMb }) => memoryMb > 0 && cards.some((card) => card.uuid === uuid),
      );
      return declared.map(({ memoryMb }) => `${jobWords(claim)} declared ${memoryWords(memoryMb)}`);
    }),
  ];
}

/** Processes that belong to no claim, the largest first. */
export function foreignHolders({ holders = [] }: Gpu): CardHolder[] {
  const foreign = holders.filter(({ isClaimed }) => !isClaimed);
  return foreign.toSorted((a, b) => (b.memoryMb ?? 0) - (a.memoryMb ?? 0));
}

function holderWords({ user, program, memoryMb }: CardHolder): string {
  const owner = user === "" ? "a process" : `${user}'s ${program || "process"}`;
  return memoryMb === null ? owner : `${owner} ${memoryWords(memoryMb)}`;
}

/** Names the account only if it is another one. */
export function jobWords({ owner = "", batch, job = "" }: Partial<Claim> & Pick<Claim, "batch">): string {
  const what = job === "" ? `sshoal batch ${batch}` : `sshoal job ${job}`;
  return owner === "" ? what : `${owner}'s ${what}`;
}
