// What `top` shows of a machine, before it is laid out: a row per card, and one for its cores and memory.

import type { Capacity, CardHolder, Claim, Gpu } from "../../model/machine.js";
import { shortBatchName, shortCardName } from "../text/card-name.js";
import { printable } from "../text/printable.js";

export interface RoomRow {
  /** `0 RTX 3090`, or `64 cores`. */
  readonly label: string;
  /** In MB; null: it cannot be read, or the card has none of its own. */
  readonly memory: { readonly oursMb: number; readonly othersMb: number; readonly totalMb: number } | null;
  /** 0 to 1; null: unknown. */
  readonly use: number | null;
  /** Jobs and processes, or why the card is not used. */
  readonly who: string;
}

export function roomRows(capacity: Capacity): RoomRow[] {
  return [...capacity.gpus.map((gpu) => cardRow(gpu, capacity)), hostRow(capacity)];
}

function cardRow(gpu: Gpu, capacity: Capacity): RoomRow {
  const claims = capacity.claims.filter((claim) => claimedCards(claim).includes(gpu.uuid));
  const users = [...claimWords(claims), ...holderWords(gpu.holders ?? [])];
  return {
    label: `${gpu.index} ${shortCardName(gpu.name)}`,
    memory: cardMemory(gpu, claims, capacity),
    use: gpu.utilization,
    who: [...notesOf(gpu), ...users].join(", "),
  };
}

function notesOf({ unusable, sharesHostMemory, utilization, holders }: Gpu): string[] {
  return [
    ...(unusable === null ? [] : [`not used: it ${printable(unusable)}`]),
    ...(sharesHostMemory ? ["memory of the machine"] : []),
    ...((utilization ?? 0) > 0 && holders?.length === 0 ? ["no process seen"] : []),
  ];
}

function claimedCards({ cards }: Claim): string[] {
  return cards.map(({ uuid }) => uuid);
}

/** Where processes are not known, a card with a job of ours is ours. */
function cardMemory(gpu: Gpu, claims: readonly Claim[], capacity: Capacity): RoomRow["memory"] {
  const { memoryTotalMb: totalMb, memoryFreeMb: freeMb, holders } = gpu;
  if (totalMb === null || freeMb === null) return null;
  const usedMb = Math.max(0, totalMb - freeMb);
  const held = (holders ?? []).filter((holder) => isOurs(holder, capacity));
  const heldMb = held.reduce((sum, { memoryMb }) => sum + (memoryMb ?? 0), 0);
  const isGuess = holders === undefined && claims.some(isOwn);
  return split(isGuess ? usedMb : heldMb, usedMb, totalMb);
}

function split(oursMb: number, usedMb: number, totalMb: number): RoomRow["memory"] {
  const ours = Math.min(oursMb, usedMb);
  return { oursMb: ours, othersMb: usedMb - ours, totalMb };
}

/** Of a job of this account. Its other processes are like those of any person. */
function isOurs({ user, isClaimed }: CardHolder, { account }: Capacity): boolean {
  return isClaimed && (account === undefined || user === "" || user === account);
}

function isOwn({ owner }: Claim): boolean {
  return owner === "";
}

function hostRow(capacity: Capacity): RoomRow {
  const { cpus, memory, claims } = capacity;
  const ownMb = claims.filter(isOwn).reduce((sum, { residentMb }) => sum + residentMb, 0);
  const totalMb = memory?.totalMb ?? null;
  return {
    label: cpus === null ? "cores" : `${Math.round(cpus.total * 10) / 10} cores`,
    memory:
      memory === null || totalMb === null
        ? null
        : split(ownMb, Math.max(0, totalMb - memory.freeMb), totalMb),
    use: cpus === null || cpus.total === 0 ? null : Math.max(0, cpus.total - cpus.free) / cpus.total,
    who: claimWords(claims.filter((claim) => claimedCards(claim).length === 0)).join(", "),
  };
}

/** `train.sh 14, 15`, and of another account `bob train.sh 3`. */
function claimWords(claims: readonly Claim[]): string[] {
  const jobs = new Map<string, string[]>();
  for (const claim of claims) {
    const name = shortBatchName(claim.batch);
    const batch = isOwn(claim) ? name : `${printable(claim.owner)} ${name}`;
    jobs.set(batch, [...(jobs.get(batch) ?? []), ...(claim.job === "" ? [] : [printable(claim.job)])]);
  }
  return [...jobs].map(([batch, labels]) => `${batch} ${labels.join(", ")}`.trimEnd());
}

/** `bob python`, `bob python (2)`. Processes of jobs are named by their claims. */
function holderWords(holders: readonly CardHolder[]): string[] {
  const counts = new Map<string, number>();
  for (const { pid, user, program, isClaimed } of holders) {
    if (isClaimed) continue;
    const what = printable(program) || (pid === 0 ? "a process" : `process ${pid}`);
    const words = `${printable(user) || "unknown"} ${what}`;
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].map(([words, count]) => (count === 1 ? words : `${words} (${count})`));
}
