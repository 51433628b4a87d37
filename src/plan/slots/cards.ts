// Decides whether one more job fits on a card.

import type { CardRefusal } from "../../model/shortage.js";
import { type CardNeed, cardCount, type Holder, isOurs, type Question } from "./question.js";
import { type CardRoom, isOver, type World } from "./world.js";

/** The highest sum of shares on a card, in thousandths. It may exceed 1, because few jobs use as much as they ask for. */
export const MOST_USE_MILLI = 1200;

/** A job's part of one card. */
export interface Part {
  readonly shareMilli: number;
  /** 1000: the card is for the job alone. 0: jobs share it without amounts. */
  readonly amountMilli: number;
}

export interface Judgement {
  readonly question: Question;
  readonly world: World;
  readonly need: CardNeed;
}

/** Returns null if the part fits on the card. */
export function refusal(judgement: Judgement, room: CardRoom, part: Part): CardRefusal | null {
  const { question, need } = judgement;
  const { card } = room;
  if (card.isExcluded) return { kind: "not-allowed" };
  if (card.unusable !== null) return { kind: "unusable", reason: card.unusable };
  if (card.isMig && cardCount(need) > 1 && !(need.isListed && card.isTrusted)) return { kind: "slice" };
  if (need.isListed && room.ours.count >= timesListed(need, room)) return { kind: "all-listed" };
  if (question.isPolite && card.isOfPerson) return { kind: "other-person" };
  return (
    takenBy(judgement, room, part) ??
    (card.isExclusive && card.isForeign ? { kind: "exclusive-in-use" } : null) ??
    memoryRefusal(judgement, room) ??
    amountRefusal(judgement, room, part)
  );
}

/** Processes of other users do not block a card that a job has alone. The room they leave must be large enough. */
function takenBy({ question, need }: Judgement, room: CardRoom, { amountMilli }: Part): CardRefusal | null {
  const isAlone = amountMilli >= 1000 || room.card.isExclusive;
  const { count, alone } = countedOn(room, need);
  if (alone === 0 && !(isAlone && count > 0)) return null;
  const holder = question.claims.find(
    (claim) =>
      !(need.isListed && isOurs(question, claim)) &&
      claim.cards.some((each) => each.uuid === room.card.uuid && (isAlone || each.amountMilli >= 1000)),
  );
  return { kind: "taken", ...(holder === undefined ? { batch: null } : holderWords(holder)) };
}

function holderWords({ owner, batch, job }: Holder): Holder {
  return { owner, batch, job };
}

/** Jobs of this batch may crowd a card that the user lists. */
function countedOn({ ours, others }: CardRoom, { isListed }: CardNeed): CardRoom["ours"] {
  if (isListed) return others;
  return {
    count: ours.count + others.count,
    alone: ours.alone + others.alone,
    amountMilli: ours.amountMilli + others.amountMilli,
  };
}

function memoryRefusal({ world, need }: Judgement, { card, freeMb }: CardRoom): CardRefusal | null {
  if (freeMb === null) return card.sharesHostMemory || card.isTrusted ? null : { kind: "memory-unknown" };
  if (!isOver(need.memoryMb, freeMb, world)) return null;
  return { kind: "memory", neededMb: need.memoryMb, freeMb: Math.max(0, freeMb), totalMb: card.totalMb };
}

function amountRefusal({ world, need }: Judgement, room: CardRoom, part: Part): CardRefusal | null {
  if (!need.isListed && isOver(part.shareMilli, MOST_USE_MILLI - room.shareMilli, world))
    return { kind: "utilization", needed: part.shareMilli / 1000, used: room.shareMilli / 1000 };
  const freeMilli = 1000 - countedOn(room, need).amountMilli;
  if (!isOver(part.amountMilli, freeMilli, world)) return null;
  return { kind: "amount", needed: part.amountMilli / 1000, free: Math.max(0, freeMilli) / 1000 };
}

/** How often a card is a candidate: more than once only if it is listed so. */
export function timesListed({ candidates }: CardNeed, { card }: CardRoom): number {
  if (candidates === null) return 1;
  return candidates.filter((word) => isNamed(card, word)).length;
}

export function placeInList({ candidates }: CardNeed, { card }: CardRoom): number {
  return candidates?.findIndex((word) => isNamed(card, word)) ?? 0;
}

/** Slices of one card have its index, so their UUIDs name them. */
function isNamed({ uuid, index, isMig }: CardRoom["card"], word: string): boolean {
  return word === uuid || (!isMig && word === `${index}`);
}

/** No job and no other process uses it. */
export function isIdle({ card, ours, others }: CardRoom): boolean {
  return !card.isForeign && ours.count + others.count === 0;
}

/** How many idle cards a job may take, because others are kept for people. Below 0: people miss cards already. */
export function spareCards({ keep, isPolite }: Question, { cards }: World): number {
  const usable = cards.filter(({ card }) => !card.isExcluded && card.unusable === null);
  const kept = isPolite && usable.length > 1 ? Math.max(1, keep.cards) : keep.cards;
  return usable.filter(isIdle).length - kept;
}
