// Explains in one line why a job waits on a machine, with the measured numbers: "card 0 has 18.1 GB free of 24, needs 20".

import type { Capacity } from "../../model/machine.js";
import { cardUsers, foreignHolders, jobWords } from "./card-users.js";
import { MOST_USE_MILLI } from "./cards.js";
import { memoryAfter, memoryWords } from "./memory-words.js";
import type { CardRefusal, RefusedCard, Shortage } from "./shortage.js";
import { CPU_OVERLOAD_MILLI } from "./world.js";

export interface Circumstances {
  /** Who uses the machine; null: not known. */
  readonly capacity: Capacity | null;
  /** Its machine file, as the user knows it; null: there is none. */
  readonly file: string | null;
  /** The name of a job, by its key. */
  readonly nameOf?: (key: string) => string;
}

export function whyWords(shortages: readonly Shortage[], circumstances: Circumstances): string {
  return shortages.flatMap((shortage) => wordsFor(shortage, circumstances)).join("; ");
}

function wordsFor(shortage: Shortage, circumstances: Circumstances): string[] {
  switch (shortage.kind) {
    case "memory": {
      const { neededMb, freeMb } = shortage;
      return [
        `${memoryWords(freeMb, "down")} of memory free, needs ${memoryAfter(freeMb, neededMb, "up")}${declaredWords(circumstances)}`,
      ];
    }
    case "memory-unknown":
      return ["its free memory cannot be read"];
    case "cpus":
      return [`room for ${coresWords(shortage.free)} cores, needs ${shortage.needed}`];
    case "cpus-unknown":
      return ["its free cores cannot be read"];
    case "gpus":
      return cardsWords(shortage, circumstances);
    case "no-such-gpu":
      return [`no card ${shortage.absent.join(", ")}, there are ${shortage.there.join(", ")}`];
    case "all-listed":
      return [`--gpus lists ${shortage.count}`];
    case "resource":
      return [`${shortage.name}: ${shortage.free} free, needs ${shortage.needed}`];
    case "max-jobs":
      return [`as many jobs as max_jobs allows: ${shortage.maxJobs}`];
    case "machine-claimed":
    case "machine-in-use":
    case "machine-held":
      return [`the machine is in use by ${jobWords(shortage)}`];
    case "machine-reserved":
      return ["one job has the whole machine"];
    case "kept":
      return [`kept for job ${circumstances.nameOf?.(shortage.key) ?? shortage.key}`];
    case "too-many":
      return [`at most ${shortage.limit} jobs at a time`];
    default:
      return shortage satisfies never;
  }
}

const MOST_CLAIMS = 3;

/** The largest claims on the memory of the machine. */
function declaredWords({ capacity }: Circumstances): string {
  const claims = (capacity?.claims ?? []).filter(({ memoryMb }) => memoryMb > 0);
  const largest = claims.toSorted((a, b) => b.memoryMb - a.memoryMb).slice(0, MOST_CLAIMS);
  const words = largest.map((claim) => `${jobWords(claim)} declared ${memoryWords(claim.memoryMb)}`);
  return words.length === 0 ? "" : `: ${words.join(", ")}`;
}

/** With the overload that is acceptable. Rounded down, so that too little never looks like enough. */
export function coresWords(free: number): number {
  return Math.floor(Math.max(0, free * 1000 + CPU_OVERLOAD_MILLI) / 100) / 10;
}

type CardShortage = Extract<Shortage, { kind: "gpus" }>;

function cardsWords({ needed, available, refused }: CardShortage, circumstances: Circumstances): string[] {
  const lines = groupCards(refused, circumstances);
  if (needed <= 1 && lines.length > 0) return lines;
  return [`needs ${countWords(needed)}, ${available} suitable`, ...lines];
}

export function countWords(cards: number): string {
  return cards === 1 ? "1 card" : `${cards} cards`;
}

/** Cards with the same reason share it. */
function groupCards(refused: readonly RefusedCard[], circumstances: Circumstances): string[] {
  const groups = new Map<string, number[]>();
  for (const { gpu, why } of refused) {
    const words = refusalWords(gpu.index, why, circumstances);
    groups.set(words, [...new Set([...(groups.get(words) ?? []), gpu.index])]);
  }
  return [...groups].map(([words, indices]) =>
    indices.length === 1
      ? `card ${indices[0]} ${words}`
      : `cards ${indices.join(", ")} ${words.replace(/^has /, "have ")}`,
  );
}

/** In a form that follows one card or several. */
function refusalWords(index: number, why: CardRefusal, { capacity, file }: Circumstances): string {
  const users = capacity === null ? [] : cardUsers(index, capacity);
  const by = users.length === 0 ? "" : `: ${users.join(", ")}`;
  switch (why.kind) {
    case "memory": {
      const total = why.totalMb === null ? "" : ` of ${memoryAfter(why.freeMb, why.totalMb)}`;
      return `has ${memoryWords(why.freeMb, "down")} free${total}, needs ${memoryAfter(why.totalMb ?? why.freeMb, why.neededMb, "up")}${by}`;
    }
    case "utilization":
      return `${percent(why.used)} % in use, needs ${percent(why.needed)} of ${MOST_USE_MILLI / 10} %${by}`;
    case "amount":
      return `has ${why.free} free, needs ${why.needed}${by}`;
    case "taken":
      return `taken by ${why.batch === null ? "another job" : jobWords({ ...why, batch: why.batch })}`;
    case "not-allowed":
      return `excluded by ${file ?? "its machine file"}`;
    case "kept-free":
      return "kept free for people";
    case "memory-unknown":
      return "not measured: its free memory cannot be read";
    case "unusable":
      return `not usable${unusableWords(index, why.reason, capacity)}`;
    case "exclusive-in-use":
      return `for one process at a time (Exclusive_Process)${by}`;
    case "other-person":
      return `in use by ${personWords(index, capacity)} (--polite)`;
    case "all-listed":
      return "taken by jobs of this batch, as often as --gpus lists it";
    case "slice":
      return "not suitable: a job can use only one MIG slice";
    default:
      return why satisfies never;
  }
}

function percent(share: number): number {
  return Math.round(share * 100);
}

/** The machine itself reports no reason, but the probe may have one. */
function unusableWords(index: number, reason: string, capacity: Capacity | null): string {
  const known = reason || (capacity?.gpus.find((gpu) => gpu.index === index)?.unusable ?? "");
  return known === "" ? "" : `: it ${known}`;
}

function personWords(index: number, capacity: Capacity | null): string {
  const holders = (capacity?.gpus ?? []).filter((gpu) => gpu.index === index).flatMap(foreignHolders);
  const users = [...new Set(holders.map(({ user }) => user).filter((user) => user !== ""))];
  return users.join(", ") || "another person";
}
