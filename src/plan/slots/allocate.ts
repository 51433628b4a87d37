// Decides which waiting job starts, and on which devices: facts, claims and needs in, devices or reasons out. On a machine
// runtime/room.awk gives the same answers.

import type { Shortage } from "../../model/shortage.js";
import { chooseInstances, type Got } from "./instances.js";
import { chooseCards } from "./placing.js";
import { cardCount, type Need, type Question } from "./question.js";
import {
  type CardUse,
  CPU_OVERLOAD_MILLI,
  isOver,
  spendMemory,
  useCard,
  type World,
  worldNow,
  worldWithoutClaims,
} from "./world.js";

export interface Answer {
  /** The first need that fits, with what it gets; null: all of them wait. */
  readonly start: { readonly need: Need; readonly grant: Grant } | null;
  /** The needs before it, each with all that is missing. */
  readonly waits: readonly { readonly need: Need; readonly shortages: readonly Shortage[] }[];
}

/** What a job gets. */
export interface Grant {
  /** In order, the card of which it has a part last. */
  readonly cards: readonly CardUse[];
  readonly gots: readonly Got[];
}

export interface Fit extends Grant {
  /** Every limit that is reached; empty: the job fits. */
  readonly shortages: readonly Shortage[];
}

export function allocate(question: Question): Answer {
  const waits: { need: Need; shortages: readonly Shortage[] }[] = [];
  // The first world is the present. Each further one lacks what one more waiting need keeps for itself.
  const worlds = [worldNow(question)];
  const keepers: Need[] = [];
  const empty = worldWithoutClaims(question);
  let later = empty;
  for (const need of question.needs) {
    const now = worlds.map((world) => fitInto(question, need, world));
    const blockedBy = now.slice(1).findIndex(({ shortages }) => shortages.length > 0);
    const [present = NOTHING, last = present] = [now[0], now.at(-1)];
    if (present.shortages.length === 0 && last.shortages.length === 0)
      return { start: { need, grant: { cards: last.cards, gots: last.gots } }, waits };
    const keeper = keepers[blockedBy];
    const isKept = present.shortages.length === 0 && keeper !== undefined;
    waits.push({ need, shortages: isKept ? [{ kind: "kept", key: keeper.key }] : present.shortages });
    const useNow = worlds.at(-1) ?? empty;
    const kept = [later, empty].map((world) => fitInto(question, need, world, useNow)).find(isFit);
    if (kept === undefined) continue;
    keepers.push(need);
    worlds.push({ ...take(useNow, need, kept), hasKeeps: true });
    later = { ...take(later, need, kept), hasKeeps: true };
  }
  return { start: null, waits };
}

const NOTHING: Fit = { cards: [], gots: [], shortages: [] };

function isFit({ shortages }: Fit): boolean {
  return shortages.length === 0;
}

/**
 * `useNow`: how much cards are used now, if the world is not the present. What waits for later keeps the least used card, so that
 * the choice stays the same while it waits.
 */
export function fitInto(question: Question, need: Need, world: World, useNow?: World): Fit {
  const isPacked = useNow === undefined && packs(question);
  const choice = chooseCards({ question, need, world, useNow: useNow ?? world, isPacked });
  const { gots, shortages } = chooseInstances(question, need.wants, world);
  const all = [
    ...countShortages(question, need, world),
    ...roomShortages(need, world, need.memoryMb + hostMemoryOf(need, choice.uses, world)),
    ...choice.shortages,
    ...shortages,
  ];
  return { cards: choice.uses, gots, shortages: all };
}

/** Shared jobs are packed while another job waits for cards of its own. */
function packs({ packs: isAsked, needs }: Question): boolean {
  return isAsked || needs.some(({ cards }) => cards?.isAlone && cards.whole > 0);
}

export function countShortages(
  { maxJobs, claims }: Question,
  need: Pick<Need, "reservesMachine">,
  world: World,
): Shortage[] {
  const { reservedBy, claimedBy, jobs } = world;
  const shortages: Shortage[] = [];
  if (reservedBy !== null)
    shortages.push({ kind: "machine-claimed", owner: reservedBy.owner, batch: reservedBy.batch });
  else if (need.reservesMachine && claimedBy !== null)
    shortages.push({ kind: "machine-in-use", owner: claimedBy.owner, batch: claimedBy.batch });
  if (maxJobs !== null && jobs >= maxJobs)
    shortages.push({ kind: "max-jobs", maxJobs, claimed: claims.length });
  return shortages;
}

function roomShortages(need: Need, world: World, neededMb: number): Shortage[] {
  const { memoryMb, coresMilli } = world;
  const shortages: Shortage[] = [];
  if (memoryMb === null) shortages.push({ kind: "memory-unknown" });
  else if (isOver(neededMb, memoryMb, world))
    shortages.push({ kind: "memory", neededMb, freeMb: Math.max(0, memoryMb) });
  if (coresMilli === null) shortages.push({ kind: "cpus-unknown" });
  else if (isOver(need.coresMilli, coresMilli + CPU_OVERLOAD_MILLI, world))
    shortages.push({ kind: "cpus", needed: need.coresMilli / 1000, free: coresMilli / 1000 });
  return shortages;
}

/** Cards without memory of their own use the host's. */
function hostMemoryOf({ cards }: Need, uses: readonly CardUse[], world: World): number {
  if (cards === null) return 0;
  const sharing = uses.filter(({ uuid }) =>
    world.cards.some(({ card }) => card.uuid === uuid && card.sharesHostMemory),
  );
  return Math.min(cardCount(cards), sharing.length) * cards.memoryMb;
}

const KEPT = { owner: "", batch: "", job: "" };

/** The world with one more job that has what was chosen for it. */
export function take(world: World, need: Need, { cards, gots }: Grant): World {
  const spent = spendMemory(world, need.memoryMb);
  const used = cards.reduce((each, use) => useCard(each, use, true), spent);
  return {
    ...used,
    claimedBy: world.claimedBy ?? KEPT,
    reservedBy: need.reservesMachine ? (world.reservedBy ?? KEPT) : world.reservedBy,
    coresMilli: world.coresMilli === null ? null : world.coresMilli - need.coresMilli,
    left: world.left.map((left, at) => left - (gots.find((got) => got.at === at)?.milli ?? 0)),
  };
}
