// Chooses cards for a job: whole cards first, then the card of which it needs a part.

import type { CardRefusal, Shortage } from "../../model/shortage.js";
import { isIdle, type Judgement, type Part, placeInList, refusal, spareCards, timesListed } from "./cards.js";
import { type CardNeed, cardCount, type Need, type Question } from "./question.js";
import type { CardRoom, CardUse, World } from "./world.js";

export interface Placing {
  readonly question: Question;
  readonly need: Need;
  readonly world: World;
  /** How much cards are used, for the order of cards. */
  readonly useNow: World;
  /** Shared jobs fill a card before they begin another one. */
  readonly isPacked: boolean;
}

export interface Choice {
  /** In order, the card of which the job needs a part last. Empty if there are too few. */
  readonly uses: readonly CardUse[];
  readonly shortages: readonly Shortage[];
}

interface Judged {
  readonly room: CardRoom;
  readonly wholeRefusal: CardRefusal | null;
  readonly partRefusal: CardRefusal | null;
}

/** All of one maker: no program uses cards of two makers at once. */
export function chooseCards(placing: Placing): Choice {
  const { need } = placing;
  if (need.cards === null) return { uses: [], shortages: [] };
  // A job that has the machine gets whole cards.
  const cards = need.reservesMachine
    ? { ...need.cards, whole: cardCount(need.cards), partMilli: 0 }
    : need.cards;
  const judged = judgeCards(placing, cards);
  const suitable = inFirstOrder(placing, cards, judged).filter((each) => firstRefusal(cards, each) === null);
  for (const maker of new Set(suitable.map(({ room }) => room.card.maker))) {
    const uses = pick(
      placing,
      cards,
      judged.filter(({ room }) => room.card.maker === maker),
    );
    if (uses !== null)
      return { uses: need.reservesMachine ? pickAll(placing, cards, suitable) : uses, shortages: [] };
  }
  return { uses: [], shortages: [refusedCards(placing, need.cards, { suitable, judged })] };
}

function judgeCards({ question, world }: Placing, need: CardNeed): Judged[] {
  const judgement: Judgement = { question, world, need };
  // A card that the machine file excludes is reported, although it is no candidate.
  const isJudged = (room: CardRoom) =>
    timesListed(need, room) > 0 || (!need.isListed && room.card.isExcluded);
  return world.cards.filter(isJudged).map((room) => ({
    room,
    wholeRefusal: need.whole > 0 ? refusal(judgement, room, wholePart(need)) : null,
    partRefusal: need.partMilli > 0 ? refusal(judgement, room, lastPart(need)) : null,
  }));
}

function wholePart({ shareMilli, isAlone }: CardNeed): Part {
  return { shareMilli, amountMilli: isAlone ? 1000 : 0 };
}

function lastPart({ shareMilli, partMilli }: CardNeed): Part {
  return { shareMilli: Math.min(shareMilli, partMilli), amountMilli: partMilli };
}

/** Of the part that is chosen first. */
function firstRefusal({ whole }: CardNeed, { wholeRefusal, partRefusal }: Judged): CardRefusal | null {
  return whole > 0 ? wholeRefusal : partRefusal;
}

function inFirstOrder(placing: Placing, need: CardNeed, judged: readonly Judged[]): Judged[] {
  return inOrder(placing, need, judged, placing.isPacked && (need.whole === 0 || !need.isAlone));
}

/** The least used card first, cards of unknown use last. Listed cards are in the order of the list. */
function inOrder(
  { useNow }: Placing,
  need: CardNeed,
  judged: readonly Judged[],
  isPacked: boolean,
): Judged[] {
  if (need.isListed) return judged.toSorted((a, b) => placeInList(need, a.room) - placeInList(need, b.room));
  const use = new Map(useNow.cards.map(({ card, shareMilli }) => [card.uuid, shareMilli]));
  const useOf = ({ room }: Judged) => (use.get(room.card.uuid) ?? 0) * (isPacked ? -1 : 1);
  const isUnknown = ({ room }: Judged) => Number(room.card.useMilli === null);
  return judged.toSorted(
    (a, b) => isUnknown(a) - isUnknown(b) || useOf(a) - useOf(b) || a.room.card.index - b.room.card.index,
  );
}

function pick(placing: Placing, need: CardNeed, judged: readonly Judged[]): CardUse[] | null {
  const mayUse = spending(placing);
  const uses: CardUse[] = [];
  for (const { room, wholeRefusal } of inFirstOrder(placing, need, judged))
    if (uses.length < need.whole && wholeRefusal === null && mayUse(room))
      uses.push(useOf(room, need, wholePart(need)));
  if (uses.length < need.whole || need.partMilli === 0) return uses.length < need.whole ? null : uses;
  const taken = new Set(uses.map(({ uuid }) => uuid));
  const last = inOrder(placing, need, judged, placing.isPacked).find(
    ({ room, partRefusal }) => partRefusal === null && !taken.has(room.card.uuid) && mayUse(room),
  );
  return last === undefined ? null : [...uses, useOf(last.room, need, lastPart(need))];
}

function pickAll(placing: Placing, need: CardNeed, suitable: readonly Judged[]): CardUse[] {
  const mayUse = spending(placing);
  return suitable.filter(({ room }) => mayUse(room)).map(({ room }) => useOf(room, need, wholePart(need)));
}

function useOf({ card }: CardRoom, { memoryMb }: CardNeed, part: Part): CardUse {
  return { uuid: card.uuid, memoryMb, ...part };
}

/** Counts the idle cards that a job takes, because some are kept for people. */
function spending({ question, world }: Placing): (room: CardRoom) => boolean {
  let spare = spareCards(question, world);
  return (room) => {
    if (!isIdle(room)) return spare >= 0;
    if (spare <= 0) return false;
    spare -= 1;
    return true;
  };
}

function refusedCards(
  placing: Placing,
  need: CardNeed,
  { suitable, judged }: { readonly suitable: readonly Judged[]; readonly judged: readonly Judged[] },
): Shortage {
  const mayUse = new Map<string, (room: CardRoom) => boolean>();
  const kept = new Set<CardRoom>();
  for (const { room } of suitable) {
    const ofMaker = mayUse.get(room.card.maker) ?? spending(placing);
    mayUse.set(room.card.maker, ofMaker);
    if (!ofMaker(room)) kept.add(room);
  }
  const refused = judged.flatMap(({ room, wholeRefusal, partRefusal }) => {
    const why = kept.has(room) ? ({ kind: "kept-free" } as const) : (wholeRefusal ?? partRefusal);
    return why === null ? [] : [{ gpu: { index: room.card.index }, why }];
  });
  const needed = need.whole + need.partMilli / 1000;
  return { kind: "gpus", needed, available: suitable.length - kept.size, refused };
}
