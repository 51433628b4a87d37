import fc from "fast-check";
import { expect, test } from "vitest";
import { ENDINGS, planFiles, type Renaming } from "../../../../src/plan/edit/file-moves.js";

/** The directory afterwards: the old name of each entry, by its new one. */
function renamed(renaming: Renaming): Record<string, string> {
  const { moves, files } = planFiles(renaming);
  const targets = new Map(files);
  for (const { from, to } of moves) for (const ending of ENDINGS) targets.set(from + ending, to + ending);
  const after = renaming.there.map((entry) => [targets.get(entry) ?? entry, entry] as const);
  expect(new Set(after.map(([name]) => name)).size, "nothing is overwritten").toBe(after.length);
  return Object.fromEntries(after.filter(([name, entry]) => name !== entry));
}

const filesOf = (...names: string[]) => names.flatMap((name) => ENDINGS.map((ending) => name + ending));
const owners = (...names: string[]) => new Set(names);

test("names that move in a cycle", () => {
  const moves = [
    { job: 1, from: "s.1", to: "s.2" },
    { job: 2, from: "s.2", to: "s.1" },
  ];
  expect(
    renamed({ moves, aside: [], owners: owners("s.1", "s.2"), there: filesOf("s.1", "s.2", "s.10") }),
  ).toEqual({
    "s.2": "s.1",
    "s.2.out": "s.1.out",
    "s.2.err": "s.1.err",
    "s.1": "s.2",
    "s.1.out": "s.2.out",
    "s.1.err": "s.2.err",
  });
});

test("entries beside a result move with it, to a free number", () => {
  const moves = [{ job: 1, from: "s.1", to: "s.2" }];
  const there = ["s.1.old-1", "s.1.old-1.again-2.out", "s.1.out.old-1", "s.2.old-1.out", "s.1.again-2"];
  expect(renamed({ moves, aside: [], owners: owners("s.1"), there })).toEqual({
    "s.2.old-2": "s.1.old-1",
    "s.2.old-2.again-2.out": "s.1.old-1.again-2.out",
    "s.2.out.old-1": "s.1.out.old-1",
    "s.2.again-2": "s.1.again-2",
  });
});

test("results of a gone command move aside, and older ones stay", () => {
  const aside = [{ job: 2, name: "s.2" }];
  const there = filesOf("s.2", "s.2.old-1");
  const { moves } = planFiles({ moves: [], aside, owners: owners("s.2"), there });
  expect(moves).toEqual([{ job: 2, from: "s.2", to: "s.2.old-2" }]);
});

test("what moves aside gets the highest number, also where lower ones are free", () => {
  const aside = [{ job: 2, name: "s.2" }];
  const { moves } = planFiles({
    moves: [],
    aside,
    owners: owners("s.2"),
    there: filesOf("s.2", "s.2.old-4"),
  });
  expect(moves).toEqual([{ job: 2, from: "s.2", to: "s.2.old-5" }]);
});

test("results that no record knows make room", () => {
  const moves = [{ job: 1, from: "s.1", to: "s.2" }];
  expect(renamed({ moves, aside: [], owners: owners("s.1"), there: filesOf("s.1", "s.2") })).toMatchObject({
    "s.2": "s.1",
    "s.2.old-1": "s.2",
    "s.2.old-1.out": "s.2.out",
  });
});

test("a gone job that still runs keeps its new name, whatever moves", () => {
  const moves = [{ job: 1, from: "s.1", to: "s.2" }];
  const there = ["s.1.old-1.out", "s.1.old-2.out"];
  expect(renamed({ moves, aside: [], owners: owners("s.1", "s.1.old-1"), there })).toEqual({
    "s.2.old-2.out": "s.1.old-2.out",
  });
});

test("no two entries get one name, for any entries and moves", () => {
  const line = fc.integer({ min: 1, max: 4 });
  const suffix = fc.constantFrom(
    "",
    ".out",
    ".err",
    ".old-1",
    ".old-1.out",
    ".old-2",
    ".again-2",
    ".out.old-1",
  );
  const entry = fc.tuple(line, suffix).map(([number, end]) => `s.${number}${end}`);
  const places = fc.shuffledSubarray([1, 2, 3, 4, 5, 6], { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(fc.uniqueArray(entry), places, fc.nat(4), fc.nat(4), (there, to, kept, known) => {
      const all = [1, 2, 3, 4].slice(0, known);
      const stay = all.slice(0, kept);
      const moves = stay
        .map((number) => ({ job: number, from: `s.${number}`, to: `s.${to[number - 1]}` }))
        .filter(({ from, to: name }) => from !== name);
      const aside = all.filter((number) => !stay.includes(number)).map((job) => ({ job, name: `s.${job}` }));
      const after = renamed({ moves, aside, owners: owners(...all.map((job) => `s.${job}`)), there });
      for (const { from, to: name } of moves)
        for (const ending of ENDINGS)
          if (there.includes(from + ending)) expect(after[name + ending]).toBe(from + ending);
    }),
  );
});
