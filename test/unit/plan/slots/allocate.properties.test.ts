import fc from "fast-check";
import { expect, test } from "vitest";
import { allocate, type Grant } from "../../../../src/plan/slots/allocate.js";
import type { CardNeed, Need, Question, RoomCard, RoomClaim } from "../../../../src/plan/slots/question.js";
import type { CardUse } from "../../../../src/plan/slots/world.js";
import { AWKS, runAwk } from "../../../rig/run-awk.js";
import {
  aCardNeed,
  aQuestion,
  aRoomCard,
  aRoomClaim,
  aRoomNeed,
  formatAnswer,
  formatQuestion,
} from "./a-question.js";

// Few values of each kind, so that limits are often met exactly.
const milli = fc.constantFrom(0, 100, 250, 400, 500, 800, 1200);
const megabytes = fc.constantFrom(0, 1, 999, 1000, 2000, 4000, 8000);
const freeMb = fc.constantFrom(0, 4000, 11_000, 12_000, 12_000, 12_000, 999_999_999_999);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 6 });
const rarely = fc.integer({ min: 0, max: 9 }).map((number) => number === 9);
const UUIDS = ["GPU-0", "GPU-1", "GPU-2", "GPU-3", "MIG-4/1"];

const card = fc.record({
  maker: fc.constantFrom("nvidia", "nvidia", "nvidia", "amd"),
  totalMb: maybe(fc.constant(12_000)),
  freeMb: maybe(freeMb),
  useMilli: maybe(milli),
  isExclusive: rarely,
  sharesHostMemory: rarely,
  isMig: rarely,
  isTrusted: rarely,
  isForeign: rarely,
  isOfPerson: rarely,
  unusable: rarely.map((isLost) => (isLost ? "is lost" : null)),
  isExcluded: rarely,
  group: fc.constantFrom(null, null, null, "g/1"),
});

const cards: fc.Arbitrary<RoomCard[]> = fc
  .array(card, { minLength: 1, maxLength: UUIDS.length })
  .map((all) => all.map((facts, index) => aRoomCard({ ...facts, index, uuid: UUIDS[index] ?? "" })));

const cardClaim = fc.record({
  uuid: fc.constantFrom(...UUIDS, "GPU-9"),
  memoryMb: megabytes,
  shareMilli: milli,
  amountMilli: fc.constantFrom(0, 250, 500, 500, 800, 1000),
  usedMb: maybe(megabytes),
});

const RESOURCES = ["licence", "gpu@train", "cpu@train"];
const resourceClaim = fc.record({
  name: fc.constantFrom(...RESOURCES),
  instance: fc.constantFrom("a", "b", "c"),
  milli: fc.constantFrom(250, 500, 1000),
});

const claim: fc.Arbitrary<RoomClaim> = fc
  .record({
    owner: fc.constantFrom("ada", "bob"),
    batch: fc.constantFrom("mine", "other"),
    job: fc.constantFrom("", "7", "8"),
    memoryMb: megabytes,
    usedMb: maybe(megabytes),
    coresMilli: milli,
    reservesMachine: fc.integer({ min: 0, max: 30 }).map((number) => number === 30),
    cards: fc.uniqueArray(cardClaim, { maxLength: 2, selector: ({ uuid }) => uuid }),
    resources: fc.array(resourceClaim, { maxLength: 2 }),
  })
  .map(aRoomClaim);

const cardNeed: fc.Arbitrary<CardNeed> = fc
  .record({
    whole: fc.constantFrom(0, 0, 1, 1, 2, 3),
    partMilli: fc.constantFrom(0, 250, 500),
    memoryMb: megabytes,
    shareMilli: milli,
    isAlone: fc.boolean(),
    candidates: fc.option(fc.array(fc.constantFrom("0", "1", "2", "GPU-3", "MIG-4/1"), { maxLength: 4 }), {
      freq: 2,
    }),
    isListed: fc.boolean(),
  })
  .filter(({ whole, partMilli }) => whole + partMilli > 0)
  .map(({ isListed, ...need }) => aCardNeed({ ...need, isListed: isListed && need.candidates !== null }));

const want = fc.record({
  name: fc.constantFrom(...RESOURCES),
  amounts: fc.array(fc.constantFrom(0, 250, 500, 1000, 2000, 2500), { minLength: 1, maxLength: 2 }),
});

const need = fc.record({
  memoryMb: megabytes,
  coresMilli: fc.constantFrom(0, 500, 1000, 1000, 4000),
  reservesMachine: rarely,
  cards: fc.option(cardNeed, { freq: 3 }),
  wants: fc.oneof(fc.constant([]), fc.uniqueArray(want, { maxLength: 2, selector: ({ name }) => name })),
});

const needs: fc.Arbitrary<Need[]> = fc
  .array(need, { minLength: 1, maxLength: 4 })
  .map((all) => all.map((facts, at) => aRoomNeed({ ...facts, key: `${at + 1}` })));

const question: fc.Arbitrary<Question> = fc
  .record({
    account: fc.constantFrom(null, "ada"),
    packs: fc.boolean(),
    isPolite: rarely,
    memoryFreeMb: fc.option(freeMb, { freq: 20 }),
    coresMilli: fc.option(
      fc.record({ total: fc.constantFrom(4000, 8000), busy: fc.constantFrom(0, 0, 1500, 8000) }),
      {
        freq: 20,
      },
    ),
    keep: fc.record({
      memoryMb: fc.constantFrom(0, 0, 1000),
      coresMilli: fc.constantFrom(0, 0, 1000),
      cards: fc.constantFrom(0, 0, 0, 1, 2),
    }),
    maxJobs: fc.constantFrom(null, null, null, 2, 4),
    cards,
    instances: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom(...RESOURCES),
        instance: fc.constantFrom("a", "b", "c"),
        capacityMilli: fc.constantFrom(500, 1000, 1000, 1000, 2000),
      }),
      { maxLength: 6, selector: ({ name, instance }) => `${name} ${instance}` },
    ),
    claims: fc.array(claim, { maxLength: 4 }),
    needs,
  })
  .map(aQuestion);

test.each(AWKS)(
  "%s and the client give the same answers",
  async (awk) => {
    await fc.assert(
      fc.asyncProperty(fc.array(question, { minLength: 40, maxLength: 60 }), async (questions) => {
        const answers = await runAwk(awk, "room.awk", questions.map(formatQuestion));
        const expected = questions.map((each) =>
          formatAnswer(each, allocate(each))
            .map((line) => `${line}\n`)
            .join(""),
        );
        expect(answers).toEqual(expected);
      }),
      { numRuns: 6 },
    );
  },
  60_000,
);

test("what starts never has more than there is, and has cards alone that it wants alone", () => {
  fc.assert(
    fc.property(question, (asked) => {
      const { start } = allocate(asked);
      if (start === null) return;
      const { need, grant } = start;
      expect(need.memoryMb + sum(asked.claims.map(unusedMb)) + asked.keep.memoryMb).toBeLessThanOrEqual(
        asked.memoryFreeMb ?? 0,
      );
      expect(asked.claims.some(({ reservesMachine }) => reservesMachine)).toBe(false);
      if (need.reservesMachine) expect(asked.claims).toEqual([]);
      for (const use of grant.cards) checkCard(asked, need, use);
      for (const { name, instance, milli: got } of grant.gots) {
        // Another account can have a queue of the same name.
        const sharing = asked.claims.filter(
          ({ owner }) => !name.includes("@") || asked.account === null || owner === asked.account,
        );
        const held = sharing.flatMap(({ resources }) => resources);
        const used = sum(
          held.filter((each) => each.name === name && each.instance === instance).map((each) => each.milli),
        );
        const [own] = asked.instances.filter((each) => each.name === name && each.instance === instance);
        if (got > 0) expect(got + used).toBeLessThanOrEqual(own?.capacityMilli ?? 0);
      }
    }),
    { numRuns: 5000 },
  );
});

function checkCard({ cards: all, claims, batch, account }: Question, need: Need, use: CardUse): void {
  const [found] = all.filter(({ uuid }) => uuid === use.uuid);
  const others = claims.filter(
    (each) => !need.cards?.isListed || each.batch !== batch || (account !== null && each.owner !== account),
  );
  const on = (some: readonly RoomClaim[]) =>
    some.flatMap((each) => each.cards).filter(({ uuid }) => uuid === use.uuid);
  expect(found).toMatchObject({ unusable: null, isExcluded: false });
  if (found?.freeMb !== null && use.memoryMb > 0)
    expect(use.memoryMb + sum(on(claims).map(unusedMb))).toBeLessThanOrEqual(found?.freeMb ?? 0);
  expect(use.amountMilli + sum(on(others).map(({ amountMilli }) => amountMilli))).toBeLessThanOrEqual(1000);
  if (use.amountMilli === 1000 || found?.isExclusive) expect(on(others)).toEqual([]);
  expect(on(others).some(({ amountMilli }) => amountMilli === 1000)).toBe(false);
}

function unusedMb({
  memoryMb,
  usedMb,
}: {
  readonly memoryMb: number;
  readonly usedMb: number | null;
}): number {
  return Math.max(0, memoryMb - (usedMb ?? 0));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

test("the order of claims does not matter, except for the names in reasons", () => {
  const withoutNames = (lines: readonly string[]) =>
    lines.map((line) => line.replace(/(machine|taken):\S+/g, "$1"));
  fc.assert(
    fc.property(question, (asked) => {
      const turned = { ...asked, claims: asked.claims.toReversed() };
      expect(withoutNames(formatAnswer(turned, allocate(turned)))).toEqual(
        withoutNames(formatAnswer(asked, allocate(asked))),
      );
    }),
    { numRuns: 3000 },
  );
});

test("no need that keeps something is overtaken by one that takes it", () => {
  fc.assert(
    fc.property(question.filter(isOfOneBatch), (asked) => {
      const { start, waits } = allocate(asked);
      if (start === null) return;
      for (const { need: earlier } of waits) {
        // As soon as all claims end, the earlier need still has its room beside the job that starts now.
        const ended = { ...asked, ...withoutClaims(asked), needs: [earlier] };
        if (allocate(ended).start === null) continue;
        const started = asClaim(asked, start.need, start.grant);
        const { waits: blocked } = allocate({ ...ended, claims: [started], maxJobs: null });
        expect(blocked).toEqual([]);
      }
    }),
    { numRuns: 5000 },
  );
});

/** --gpus is for all jobs of a batch, so either all of them have listed cards or none. */
function isOfOneBatch({ needs: all }: Question): boolean {
  const listed = all.flatMap(({ cards: need }) => (need === null ? [] : [need.isListed]));
  return new Set(listed).size <= 1;
}

/** What is measured once all claims have ended. */
function withoutClaims({ claims, memoryFreeMb, coresMilli, cards: all }: Question): Partial<Question> {
  const used = ({ memoryMb, usedMb }: { memoryMb: number; usedMb: number | null }) => usedMb ?? memoryMb;
  const running = claims.filter(({ usedMb }) => usedMb !== 0);
  const on = claims.flatMap((each) => each.cards);
  const sharing = on.filter(({ uuid }) => all.some((each) => each.uuid === uuid && each.sharesHostMemory));
  const busy = (coresMilli?.busy ?? 0) - sum(running.map((each) => each.coresMilli));
  return {
    claims: [],
    memoryFreeMb: memoryFreeMb === null ? null : memoryFreeMb + sum([...claims, ...sharing].map(used)),
    coresMilli: coresMilli && { ...coresMilli, busy: Math.max(0, busy) },
    cards: all.map((each) => {
      const group = all.filter(
        (other) => other.uuid === each.uuid || (each.group !== null && other.group === each.group),
      );
      const freed = sum(on.filter(({ uuid }) => group.some((other) => other.uuid === uuid)).map(used));
      const shares = sum(on.filter(({ uuid }) => uuid === each.uuid).map(({ shareMilli }) => shareMilli));
      return {
        ...each,
        freeMb: each.freeMb === null ? null : each.freeMb + freed,
        useMilli: each.useMilli === null ? null : Math.max(0, each.useMilli - shares),
      };
    }),
  };
}

function asClaim(
  { batch, account }: Question,
  { memoryMb, coresMilli, reservesMachine }: Need,
  grant: Grant,
): RoomClaim {
  return aRoomClaim({
    owner: account ?? "ada",
    batch,
    memoryMb,
    coresMilli,
    reservesMachine,
    cards: grant.cards.map((use) => ({ ...use, usedMb: 0 })),
    resources: grant.gots.map(({ name, instance, milli: got }) => ({ name, instance, milli: got })),
  });
}
