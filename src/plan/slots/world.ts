// What is left of a machine: after the claims on it, after slots that are planned, or as if no claims existed.

import {
  type Holder,
  isOfAccount,
  isOurs,
  type Question,
  type RoomCard,
  type RoomClaim,
  sum,
} from "./question.js";

/** A small overload is acceptable, because few jobs use their cores all the time. */
export const CPU_OVERLOAD_MILLI = 2000;

export interface World {
  /** A claim that reserves the machine, and any claim. */
  readonly reservedBy: Holder | null;
  readonly claimedBy: Holder | null;
  /** Claims that count for max_jobs. */
  readonly jobs: number;
  /** Null, here and below: unknown. */
  readonly memoryMb: number | null;
  readonly coresMilli: number | null;
  readonly cards: readonly CardRoom[];
  /** What each instance of a resource has left. */
  readonly left: readonly number[];
  /** Earlier needs keep something, maybe more than there is. A need that takes none of it still fits. */
  readonly hasKeeps: boolean;
}

export interface CardRoom {
  readonly card: RoomCard;
  readonly freeMb: number | null;
  /** The share of its computing in use or promised. */
  readonly shareMilli: number;
  readonly ours: Tally;
  readonly others: Tally;
}

/** Claims on a card. */
interface Tally {
  readonly count: number;
  /** Those that have the card for themselves. */
  readonly alone: number;
  readonly amountMilli: number;
}

const NO_CLAIMS: Tally = { count: 0, alone: 0, amountMilli: 0 };

export function worldNow(question: Question): World {
  const { claims, account, coresMilli, keep, instances } = question;
  const bare = measured(question);
  const running = claims.filter(isRunning);
  // The cores of a running job are part of the measured load.
  const taken =
    coresMilli && Math.max(coresMilli.busy, coresOf(running)) + coresOf(claims) - coresOf(running);
  return {
    ...claims.reduce((world, claim) => withClaim(world, claim, isOurs(question, claim)), bare),
    reservedBy: claims.find(({ reservesMachine }) => reservesMachine) ?? null,
    claimedBy: claims[0] ?? null,
    jobs: claims.filter((claim) => isOfAccount(account, claim)).length,
    coresMilli: coresMilli && coresMilli.total - keep.coresMilli - (taken ?? 0),
    left: instances.map(({ name, instance, capacityMilli }) => {
      const sharing = claims.filter((claim) => !isOfQueue(name) || isOfAccount(account, claim));
      const held = sharing.flatMap(({ resources }) => resources).filter((each) => each.name === name);
      return capacityMilli - sum(held.filter((each) => each.instance === instance).map(({ milli }) => milli));
    }),
  };
}

/** What a queue declares, as gpu@train, is of its account alone: another account can have a queue of the same name. */
function isOfQueue(name: string): boolean {
  return name.includes("@");
}

/** As if all claims ended: what their jobs are known to use is free again. */
export function worldWithoutClaims(question: Question): World {
  const { claims, coresMilli, keep } = question;
  const world = claims.reduce(withoutClaim, measured(question));
  const foreign = coresMilli && Math.max(0, coresMilli.busy - coresOf(claims.filter(isRunning)));
  return { ...world, coresMilli: coresMilli && coresMilli.total - keep.coresMilli - (foreign ?? 0) };
}

/** As measured, without claims. */
function measured({ memoryFreeMb, coresMilli, keep, cards, instances }: Question): World {
  return {
    reservedBy: null,
    claimedBy: null,
    jobs: 0,
    memoryMb: memoryFreeMb === null ? null : memoryFreeMb - keep.memoryMb,
    coresMilli: coresMilli && coresMilli.total - keep.coresMilli,
    cards: cards.map((card) => ({
      card,
      freeMb: card.freeMb,
      // Some drivers report full use of an idle card. It counts only where another process is known.
      shareMilli: card.isForeign ? (card.useMilli ?? 0) : 0,
      ours: NO_CLAIMS,
      others: NO_CLAIMS,
    })),
    left: instances.map(({ capacityMilli }) => capacityMilli),
    hasKeeps: false,
  };
}

/** Memory that a job holds is already missing from the measured free memory. Only the rest of its claim is subtracted. */
function withClaim(world: World, claim: RoomClaim, ours: boolean): World {
  const spent = spendMemory(world, Math.max(0, claim.memoryMb - (claim.usedMb ?? 0)));
  return claim.cards.reduce(
    (each, { usedMb, ...card }) =>
      useCard(each, { ...card, memoryMb: Math.max(0, card.memoryMb - (usedMb ?? 0)) }, ours),
    spent,
  );
}

function withoutClaim(world: World, claim: RoomClaim): World {
  const freed = spendMemory(world, -(claim.usedMb ?? claim.memoryMb));
  return claim.cards.reduce((each, { uuid, usedMb, memoryMb, shareMilli }) => {
    const { cards, ...rest } = spendCardMemory(each, uuid, -(usedMb ?? memoryMb));
    return {
      ...rest,
      cards: cards.map((room) =>
        room.card.uuid === uuid ? { ...room, shareMilli: Math.max(0, room.shareMilli - shareMilli) } : room,
      ),
    };
  }, freed);
}

/** A job that uses no memory has not begun. */
function isRunning({ usedMb }: RoomClaim): boolean {
  return usedMb === null || usedMb > 0;
}

function coresOf(claims: readonly RoomClaim[]): number {
  return sum(claims.map(({ coresMilli }) => coresMilli));
}

/** What a job has of a card. */
export interface CardUse {
  readonly uuid: string;
  readonly memoryMb: number;
  readonly shareMilli: number;
  readonly amountMilli: number;
}

export function useCard(world: World, use: CardUse, ours: boolean): World {
  const spent = spendCardMemory(world, use.uuid, use.memoryMb);
  const cards = spent.cards.map((room) => {
    if (room.card.uuid !== use.uuid) return room;
    const whose = ours ? "ours" : "others";
    const { count, alone, amountMilli } = room[whose];
    const tally = {
      count: count + 1,
      alone: alone + (use.amountMilli >= 1000 ? 1 : 0),
      amountMilli: amountMilli + use.amountMilli,
    };
    return { ...room, shareMilli: room.shareMilli + use.shareMilli, [whose]: tally };
  });
  return { ...spent, cards };
}

/** Slices with a common memory all have less of it. A card without memory of its own uses the host's. */
function spendCardMemory(world: World, uuid: string, memoryMb: number): World {
  const used = world.cards.find(({ card }) => card.uuid === uuid);
  if (used === undefined) return world;
  const host = used.card.sharesHostMemory ? spendMemory(world, memoryMb) : world;
  const cards = host.cards.map((room) =>
    room.freeMb !== null && sharesMemory(room.card, used.card)
      ? { ...room, freeMb: room.freeMb - memoryMb }
      : room,
  );
  return { ...host, cards };
}

/** Also true of a card and itself. */
function sharesMemory(a: RoomCard, b: RoomCard): boolean {
  return a.uuid === b.uuid || (a.group !== null && a.group === b.group);
}

export function spendMemory(world: World, memoryMb: number): World {
  return world.memoryMb === null ? world : { ...world, memoryMb: world.memoryMb - memoryMb };
}

/** True if `wanted` is more than there is. */
export function isOver(wanted: number, free: number, { hasKeeps }: World): boolean {
  return wanted > free && !(wanted === 0 && hasKeeps);
}
