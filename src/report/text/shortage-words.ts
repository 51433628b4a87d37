// Words for what a job lacks on a machine: one reason per limit. For `why`, the live view and status.

import { withoutPool } from "../../model/resource.js";
import type { Shortage } from "../../model/shortage.js";
import { cardReasons } from "./card-reasons.js";
import { memoryWords, shortOfMemory, tooLittleMemory } from "./gigabytes.js";
import { printable } from "./printable.js";
import { holderName, type Reason, type ReasonFacts } from "./reason-facts.js";

export function reasonsFor(shortages: readonly Shortage[], facts: ReasonFacts): Reason[] {
  return shortages.flatMap((shortage) => reasonsOf(shortage, facts));
}

/** All of it in one line: `card 0 runs job 19; card 1: 14.2 GB free of 24, needs 16: bob's python 9.8 GB` */
export function reasonLine(shortages: readonly Shortage[], facts: ReasonFacts): string {
  return reasonsFor(shortages, facts)
    .map(({ subject, words }) => {
      if (subject === "") return words;
      return /^(?:each )?runs? /.test(words) ? `${subject} ${words}` : `${subject}: ${words}`;
    })
    .join("; ");
}

function reasonsOf(shortage: Shortage, facts: ReasonFacts): Reason[] {
  const about = (subject: string, words: string): Reason[] => [{ subject, words }];
  switch (shortage.kind) {
    case "memory":
      return about("memory", hostMemory(shortage, facts));
    case "memory-unknown":
      return about("memory", "cannot be read, so no job starts");
    case "cpus":
      return about("cores", coreWords(shortage, facts));
    case "cpus-unknown":
      return about("cores", "cannot be read, so no job starts");
    case "gpus":
      return cardReasons(shortage, facts);
    case "no-such-gpu":
      return about("", `there is no card ${shortage.absent.join(", ")} (--gpus)`);
    case "all-listed":
      return about("", `--gpus lists ${shortage.count}, and all are taken`);
    case "resource":
      return about(printable(withoutPool(shortage.name)), resourceWords(shortage, facts));
    case "max-jobs":
      return about("", `${jobs(shortage.claimed)}at most ${shortage.maxJobs} (max_jobs)`);
    case "machine-claimed":
      return about("", `reserved by ${holderName(shortage)}`);
    case "machine-in-use":
      return about("", `needs the whole machine, but ${holderName(shortage)} uses it`);
    case "machine-held":
      return about("", `reserved or used by ${holderName(shortage)}`);
    case "machine-reserved":
      return about("", "one job has the whole machine");
    case "kept":
      return about("", `kept for job ${printable(facts.labelOf(shortage.key))}, which waits longer`);
    case "hindered":
      return about("", HINDRANCES[shortage.by]);
    case "too-many":
      return about("", `at most ${shortage.limit} jobs run at a time`);
    default:
      return shortage satisfies never;
  }
}

const HINDRANCES = {
  answer: "what is free cannot be measured: the machine starts too few processes, or a file blocks",
  claim: "no claim can be written, so no job starts",
  disk: "the disk is full, so no job starts",
};

/** A machine does not report the number. */
function jobs(count: number): string {
  if (count === 0) return "runs ";
  return count === 1 ? "1 job runs, " : `${count} jobs run, `;
}

function hostMemory(
  { neededMb, freeMb }: { neededMb: number; freeMb: number },
  { capacity, isNever }: ReasonFacts,
): string {
  const totalMb = capacity?.memory?.totalMb ?? null;
  if (isNever) return tooLittleMemory(freeMb, neededMb);
  const declared = (capacity?.claims ?? []).reduce(
    (sum, { memoryMb, residentMb }) => sum + Math.max(0, memoryMb - residentMb),
    0,
  );
  const suffix = declared < 1 ? "" : `: jobs declared ${memoryWords(declared)} that they do not use yet`;
  return shortOfMemory(freeMb, totalMb, neededMb) + suffix;
}

function resourceWords(
  { needed, free, isDeclared }: Extract<Shortage, { kind: "resource" }>,
  { isNever }: ReasonFacts,
): string {
  if (isDeclared === false) return `none is declared in the machine file, needs ${needed}`;
  return isNever ? `${free} in all, needs ${needed}` : `${free} free, needs ${needed}`;
}

/** A small overload is acceptable; the room includes it. */
const OVERLOAD = 2;

function coreWords(
  { needed, free }: { needed: number; free: number },
  { capacity, isNever }: ReasonFacts,
): string {
  const total = capacity?.cpus?.total;
  if (isNever && total !== undefined) return `${tenths(total)} in all, needs ${needed}`;
  const room = tenths(Math.max(0, free + OVERLOAD));
  return `room for ${room}${total === undefined ? "" : ` of ${tenths(total)}`}, needs ${needed}`;
}

/** Rounded down, so that the room never looks large enough. */
function tenths(amount: number): number {
  return Math.floor(amount * 10 + 1e-6) / 10;
}
