// Words for what a job lacks on a machine: one reason per limit, one per group of cards. For `why`, the live view and status.

import type { Capacity, CardHolder, Claim } from "../../model/machine.js";
import type { CardRefusal, RefusedCard, Shortage } from "../../model/shortage.js";
import { shortBatchName } from "./card-name.js";
import { memoryWords, shortOfMemory, tooLittleMemory } from "./gigabytes.js";
import { printable } from "./printable.js";

export interface Reason {
  /** `card 1`, `cards 0-3`, `memory`; "": the whole machine. */
  readonly subject: string;
  readonly words: string;
}

/** What is known besides the shortages. */
export interface ReasonFacts {
  /** The batch of the job: its other jobs are called by their labels alone. */
  readonly batch: string;
  /** Null: not measured, as for reasons that a machine reports by itself. */
  readonly capacity: Capacity | null;
  /** The machine file. */
  readonly file: string | null;
  /** The label of an earlier job that a machine or the allocator names by its key. */
  readonly labelOf: (key: string) => string;
  /** The shortages are those of the empty machine. */
  readonly isNever: boolean;
}

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
      return about(printable(shortage.name), `${shortage.free} free, needs ${shortage.needed}`);
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
    case "too-many":
      return about("", `at most ${shortage.limit} jobs run at a time`);
    default:
      return shortage satisfies never;
  }
}

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

type CardShortage = Extract<Shortage, { kind: "gpus" }>;

function cardReasons({ needed, available, refused }: CardShortage, facts: ReasonFacts): Reason[] {
  const { capacity } = facts;
  if (capacity !== null && capacity.gpus.length === 0) return [{ subject: "", words: "it has no GPU" }];
  const own = refused.filter(({ why }) => ownJob(why, facts) !== null);
  const rest = refused.filter(({ why }) => ownJob(why, facts) === null);
  const groups = new Map<string, number[]>();
  for (const card of rest) {
    const words = refusalWords(card, facts);
    groups.set(words, [...(groups.get(words) ?? []), card.gpu.index]);
  }
  const reasons = [...ownReasons(own, facts), ...[...groups].map(([words, cards]) => reasonOn(cards, words))];
  if (needed > 1 && available > 0)
    reasons.push({
      subject: "",
      words: `${available} ${available === 1 ? "card fits" : "cards fit"}, needs ${needed}`,
    });
  return reasons.length > 0 ? reasons : [{ subject: "", words: `no card fits, needs ${needed}` }];
}

function reasonOn(indices: readonly number[], words: string): Reason {
  return { subject: `${indices.length === 1 ? "card" : "cards"} ${ranges(indices)}`, words };
}

/** `0-3`, `0, 2` */
function ranges(indices: readonly number[]): string {
  const sorted = [...new Set(indices)].sort((one, other) => one - other);
  const parts: [number, number][] = [];
  for (const index of sorted) {
    const last = parts.at(-1);
    if (last !== undefined && last[1] === index - 1) last[1] = index;
    else parts.push([index, index]);
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
}

/** `each runs a job: 14, 15` for cards that jobs of the same batch have. */
function ownReasons(cards: readonly RefusedCard[], facts: ReasonFacts): Reason[] {
  if (cards.length === 0) return [];
  const labels = cards.map(({ why }) => ownJob(why, facts) ?? "").filter((label) => label !== "");
  const indices = cards.map(({ gpu }) => gpu.index);
  const unique = [...new Set(labels)].map(printable);
  if (unique.length <= 1 || cards.length === 1) {
    const verb = cards.length === 1 ? "runs" : "run";
    return [
      reasonOn(
        indices,
        unique.length === 0 ? `${verb} a job of this batch` : `${verb} job ${unique.join(", ")}`,
      ),
    ];
  }
  return [reasonOn(indices, `each runs a job: ${unique.join(", ")}`)];
}

/** The label of a job of the same batch that has the card, "" if it is not known; null: the card is refused for another reason. */
function ownJob(why: CardRefusal, { batch }: ReasonFacts): string | null {
  if (why.kind !== "taken") return null;
  const isOther = (why.owner ?? "") !== "";
  return why.batch !== null && (why.batch !== batch || isOther) ? null : (why.job ?? "");
}

function refusalWords({ gpu, why }: RefusedCard, facts: ReasonFacts): string {
  switch (why.kind) {
    case "unusable":
      return why.reason === "" ? "not usable" : `not used: it ${printable(why.reason)}`;
    case "not-allowed":
      return facts.file === null ? "excluded" : `excluded by ${printable(facts.file)}`;
    case "kept-free":
      return "kept free for people";
    case "memory-unknown":
      return "its free memory cannot be read";
    case "memory":
      return cardMemory(gpu.index, why, facts);
    case "utilization":
      return `${percent(why.used)} in use, needs ${percent(why.needed)} of at most 120%`;
    case "amount":
      return `${why.free} of it left, needs ${why.needed}`;
    case "taken":
      return `runs ${holderName({ owner: why.owner ?? "", batch: why.batch ?? "" })} ${printable(why.job ?? "")}`.trimEnd();
    case "exclusive-in-use":
      return "another process may hold it, and only one can";
    case "other-person":
      return `${personOn(gpu.index, facts)} on it, and the batch is polite`;
    case "all-listed":
      return "as many jobs use it as --gpus lists";
    case "slice":
      return "a MIG slice, and a job can use only one";
    default:
      return why satisfies never;
  }
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** `14.2 GB free of 24, needs 16: bob's python 9.8 GB, job 14 declared 2 GB` */
function cardMemory(
  index: number,
  { neededMb, freeMb, totalMb }: { neededMb: number; freeMb: number; totalMb: number | null },
  facts: ReasonFacts,
): string {
  if (facts.isNever) return tooLittleMemory(totalMb ?? freeMb, neededMb);
  const gpu = facts.capacity?.gpus.find((each) => each.index === index);
  const holders = (gpu?.holders ?? []).filter(({ isClaimed }) => !isClaimed).map(processWords);
  const claims = (facts.capacity?.claims ?? []).flatMap((claim) => {
    const on = claim.cards.find(({ uuid }) => uuid === gpu?.uuid);
    return on === undefined ? [] : [`${jobName(claim, facts)} declared ${memoryWords(on.memoryMb)}`];
  });
  const users = [...holders, ...claims];
  return `${shortOfMemory(freeMb, totalMb, neededMb)}${users.length === 0 ? "" : `: ${users.join(", ")}`}`;
}

/** `bob's python 9.8 GB` */
function processWords({ pid, user, program, memoryMb }: CardHolder): string {
  const what = printable(program) || (pid === 0 ? "process" : `process ${pid}`);
  const name = user === "" ? `a ${what}` : `${printable(user)}'s ${what}`;
  return memoryMb === null ? name : `${name} ${memoryWords(memoryMb)}`;
}

function personOn(index: number, { capacity }: ReasonFacts): string {
  const holders = capacity?.gpus.find((each) => each.index === index)?.holders ?? [];
  const [first] = holders.filter(({ isClaimed }) => !isClaimed);
  return first === undefined
    ? "another person's process is"
    : `${processWords({ ...first, memoryMb: null })} is`;
}

/** `job 14` of the same batch, `prep.sh 3` of another one, `carol's prep.sh 3` of another account. */
function jobName(claim: Claim, facts: ReasonFacts): string {
  if (claim.batch === facts.batch && claim.owner === "")
    return claim.job === "" ? "a job of this batch" : `job ${printable(claim.job)}`;
  return `${holderName(claim)} ${printable(claim.job)}`.trimEnd();
}

/** `prep.sh`, or `carol's prep.sh`. */
function holderName({ owner, batch }: { owner: string; batch: string }): string {
  const name = shortBatchName(batch);
  return owner === "" ? name : `${printable(owner)}'s ${name}`;
}
