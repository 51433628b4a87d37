// Words for why cards take no job: one reason per group of cards.

import type { CardHolder, Claim } from "../../model/machine.js";
import type { CardRefusal, RefusedCard, Shortage } from "../../model/shortage.js";
import { memoryWords, shortOfMemory, tooLittleMemory } from "./gigabytes.js";
import { printable } from "./printable.js";
import { holderName, type Reason, type ReasonFacts } from "./reason-facts.js";

type CardShortage = Extract<Shortage, { kind: "gpus" }>;

export function cardReasons({ needed, available, refused }: CardShortage, facts: ReasonFacts): Reason[] {
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
  return reasons.length > 0
    ? reasons
    : [{ subject: "", words: `no card fits, needs ${needed}${cardsThere(facts)}` }];
}

/** Cards of another model or size are not even compared: `: there are NVIDIA A100-SXM4-40GB (40 GB)`. */
function cardsThere({ capacity }: ReasonFacts): string {
  const names = (capacity?.gpus ?? []).map(({ name, memoryTotalMb }) =>
    memoryTotalMb === null ? name : `${name} (${memoryWords(memoryTotalMb)})`,
  );
  return names.length === 0 ? "" : `: there are ${[...new Set(names)].map(printable).join(", ")}`;
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
function ownJob(why: CardRefusal, { batch, labelOf }: ReasonFacts): string | null {
  if (why.kind !== "taken") return null;
  const isOther = (why.owner ?? "") !== "";
  if (why.batch !== null && (why.batch !== batch || isOther)) return null;
  return why.job === undefined || why.job === "" ? "" : labelOf(why.job);
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
  const [first] = holders.filter(({ isClaimed, isOwn }) => !isClaimed && isOwn !== true);
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
