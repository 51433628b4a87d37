// Questions for the allocator, as values and as the text that the program on machines reads, and its answers as text.

import type { Answer } from "../../../../src/plan/slots/allocate.js";
import { formatReason } from "../../../../src/plan/slots/format-reason.js";
import type { CardNeed, Need, Question, RoomCard, RoomClaim } from "../../../../src/plan/slots/question.js";

export function aQuestion(facts: Partial<Question> = {}): Question {
  return {
    batch: "mine",
    account: null,
    packs: false,
    isPolite: false,
    memoryFreeMb: 64_000,
    coresMilli: { total: 8000, busy: 0 },
    keep: { memoryMb: 0, coresMilli: 0, cards: 0 },
    maxJobs: null,
    cards: [],
    instances: [],
    claims: [],
    needs: [],
    ...facts,
  };
}

export function aRoomCard(facts: Partial<RoomCard> = {}): RoomCard {
  const index = facts.index ?? 0;
  return {
    index,
    uuid: `GPU-${index}`,
    maker: "nvidia",
    totalMb: 24_576,
    freeMb: 24_000,
    useMilli: 0,
    isExclusive: false,
    sharesHostMemory: false,
    isMig: false,
    isTrusted: false,
    isForeign: false,
    isOfPerson: false,
    unusable: null,
    isExcluded: false,
    group: null,
    ...facts,
  };
}

export function roomCards(...facts: Partial<RoomCard>[]): RoomCard[] {
  return facts.map((each, index) => aRoomCard({ index, ...each }));
}

export function aRoomClaim(facts: Partial<RoomClaim> = {}): RoomClaim {
  return {
    owner: "ada",
    batch: "other",
    job: "7",
    memoryMb: 0,
    usedMb: 0,
    coresMilli: 0,
    reservesMachine: false,
    cards: [],
    resources: [],
    ...facts,
  };
}

/** A claim on one card, of which nothing is used yet. */
export function aClaimOn(
  uuid: string,
  facts: Partial<RoomClaim["cards"][number]> = {},
  about: Partial<RoomClaim> = {},
): RoomClaim {
  const card = { uuid, memoryMb: 0, shareMilli: 0, amountMilli: 0, usedMb: 0, ...facts };
  return aRoomClaim({ ...about, cards: [card] });
}

export function aRoomNeed(facts: Partial<Need> = {}): Need {
  return {
    key: "1",
    memoryMb: 1000,
    coresMilli: 1000,
    reservesMachine: false,
    cards: null,
    wants: [],
    ...facts,
  };
}

/** A whole card alone. */
export function aCardNeed(facts: Partial<CardNeed> = {}): CardNeed {
  return {
    whole: 1,
    partMilli: 0,
    memoryMb: 1000,
    shareMilli: 750,
    isAlone: true,
    candidates: null,
    isListed: false,
    ...facts,
  };
}

/** A part of a card. */
export function aPart(partMilli: number, facts: Partial<CardNeed> = {}): CardNeed {
  return aCardNeed({ whole: 0, partMilli, shareMilli: partMilli, isAlone: false, ...facts });
}

/** The kind of each need is "k" and its key. */
export function formatQuestion(question: Question): string {
  const { coresMilli, keep } = question;
  const lines = [
    ["batch", question.batch, ...(question.account === null ? [] : [question.account])],
    ...(question.packs ? [["rule", "pack"]] : []),
    ...(question.isPolite ? [["rule", "polite"]] : []),
    ["mem", known(question.memoryFreeMb)],
    ["cpu", known(coresMilli?.total), known(coresMilli?.busy)],
    ["keep", keep.memoryMb, keep.coresMilli, keep.cards],
    ["jobs", known(question.maxJobs)],
    ...question.cards.map(cardLine),
    ...question.instances.map(({ name, instance, capacityMilli }) => ["res", name, instance, capacityMilli]),
    ...question.claims.flatMap(claimLines),
    ...question.needs.flatMap(needLines),
  ];
  return lines.map((words) => `${words.join(" ")}\n`).join("");
}

type Words = (string | number)[];

function known(number: number | null | undefined): string {
  return `${number ?? "-"}`;
}

function cardLine(card: RoomCard): Words {
  const flags = [
    card.isExclusive && "e",
    card.sharesHostMemory && "s",
    card.isMig && "m",
    card.isTrusted && "t",
    card.isForeign && "f",
    card.isOfPerson && "o",
    card.unusable !== null && "b",
    card.isExcluded && "x",
  ];
  const letters = flags.filter((flag) => flag !== false).join("") || "-";
  const numbers = [card.totalMb, card.freeMb, card.useMilli].map(known);
  return ["card", card.index, card.uuid, card.maker, ...numbers, letters, card.group ?? "-"];
}

function claimLines(claim: RoomClaim, at: number): Words[] {
  const { owner, batch, job, memoryMb, usedMb, coresMilli, reservesMachine, cards, resources } = claim;
  const id = `c${at}`;
  return [
    ["claim", id, owner, batch, job || "-", memoryMb, coresMilli, Number(reservesMachine), known(usedMb)],
    ...cards.map((card) => [
      "on",
      id,
      card.uuid,
      card.memoryMb,
      card.shareMilli,
      card.amountMilli,
      known(card.usedMb),
    ]),
    ...resources.map(({ name, instance, milli }) => ["has", id, name, instance, milli]),
  ];
}

function needLines({ key, memoryMb, coresMilli, reservesMachine, cards, wants }: Need): Words[] {
  const kind = `k${key}`;
  return [
    ["need", key, kind, memoryMb, coresMilli, Number(reservesMachine)],
    ...(cards === null ? [] : [["cards", kind, ...cardWords(cards)]]),
    ...wants.map(({ name, amounts }) => ["wants", kind, name, amounts.join(",")]),
  ];
}

function cardWords({
  whole,
  partMilli,
  memoryMb,
  shareMilli,
  isAlone,
  candidates,
  isListed,
}: CardNeed): Words {
  const list = candidates === null ? "*" : candidates.join(",") || "-";
  return [whole, partMilli, memoryMb, shareMilli, Number(isAlone), list, Number(isListed)];
}

export function formatAnswer({ cards }: Question, { start, waits }: Answer): string[] {
  const lines = waits.map(
    ({ need, shortages }) => `wait ${need.key} k${need.key} ${formatReason(shortages)}`,
  );
  if (start === null) return lines;
  const { need, grant } = start;
  const devices = grant.cards.map((use) => {
    const card = cards.find(({ uuid }) => uuid === use.uuid) ?? aRoomCard();
    const words = [card.index, card.uuid, card.maker, use.memoryMb, use.shareMilli, use.amountMilli];
    return ["card", ...words, Number(card.isMig)].join(" ");
  });
  const gots = grant.gots.map(({ name, instance, milli }) => `got ${name} ${instance} ${milli}`);
  return [...lines, `start ${need.key} k${need.key} ${claimWords(need, grant.cards)}`, ...devices, ...gots];
}

function claimWords(need: Need, uses: readonly { uuid: string; shareMilli: number }[]): string {
  const [first] = uses;
  return [
    Math.min(need.memoryMb, 999_999_999),
    need.coresMilli / 1000,
    first === undefined ? 0 : need.cards?.memoryMb,
    (first?.shareMilli ?? 0) / 1000,
    first !== undefined && need.cards?.isAlone && (need.cards.whole > 0 || need.reservesMachine) ? 1 : 0,
    Number(need.reservesMachine),
    uses.map(({ uuid }) => uuid).join(",") || "-",
  ].join(" ");
}
