import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aRule, aSweep, commandsOf } from "./a-sweep.js";

const names = ["a", "b", "c", "d"];
const values = fc.uniqueArray(fc.stringMatching(/^[a-z0-9.]{1,3}$/), { minLength: 1, maxLength: 4 });
const lists = fc.array(values, { minLength: 1, maxLength: 4 });

function gridOf(all: readonly (readonly string[])[]): string[] {
  return all.reduce<string[]>(
    (before, list) =>
      before.flatMap((start) => list.map((value) => (start === "" ? value : `${start} ${value}`))),
    [""],
  );
}

function sweepOf(all: readonly (readonly string[])[], over: Parameters<typeof aSweep>[2] = {}) {
  const parameters = all.map((list, index) => [names[index] ?? "", ...list]);
  return aSweep(parameters.map(([name]) => `{${name}}`).join(" "), parameters, over);
}

describe("a grid", () => {
  test("has every combination, the last parameter fastest", () => {
    fc.assert(
      fc.property(lists, (all) => {
        expect(commandsOf(sweepOf(all))).toEqual(gridOf(all));
      }),
    );
  });

  test("shuffled has the same combinations, in an order that depends on the seed", () => {
    fc.assert(
      fc.property(lists, fc.maxSafeNat(), (all, seed) => {
        const shuffled = sweepOf(all, { samplingMode: "shuffled_grid", seed });
        expect(commandsOf(shuffled).sort()).toEqual(gridOf(all).sort());
        expect(commandsOf(shuffled)).toEqual(commandsOf(shuffled));
      }),
    );
    const many = [
      ["1", "2", "3", "4"],
      ["1", "2", "3", "4"],
    ];
    const orders = [1, 2].map((seed) => commandsOf(sweepOf(many, { samplingMode: "shuffled_grid", seed })));
    expect(orders[0]).not.toEqual(orders[1]);
    expect(orders[0]).not.toEqual(gridOf(many));
  });

  test("sampled has exactly this many different ones; more than there are is an error", () => {
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 300 }), fc.maxSafeNat(), (all, samples, seed) => {
        const grid = gridOf(all);
        const sample = () => commandsOf(sweepOf(all, { samples, seed }));
        if (samples > grid.length) {
          expect(sample).toThrow(`${samples} samples were asked for, but there`);
          return;
        }
        const sampled = sample();
        expect(new Set(sampled).size).toBe(samples);
        expect(sampled.every((each) => grid.includes(each))).toBe(true);
      }),
    );
  });

  test("sampled in the grid's order is its beginning", () => {
    const sweep = sweepOf(
      [
        ["1", "2"],
        ["3", "4"],
      ],
      { samples: 3, samplingMode: "grid" },
    );
    expect(commandsOf(sweep)).toEqual(["1 3", "1 4", "2 3"]);
  });

  test("that is huge can be sampled, but not printed", () => {
    const thousand = Array.from({ length: 1000 }, (_, index) => `${index}`);
    const huge = [thousand, thousand, thousand];
    expect(() => commandsOf(sweepOf(huge))).toThrow("there are 1000000000 combinations, more than 1000000");
    expect(new Set(commandsOf(sweepOf(huge, { samples: 2000 }))).size).toBe(2000);
    expect(commandsOf(sweepOf(huge, { samples: 2, samplingMode: "grid" }))).toEqual(["0 0 0", "0 0 1"]);
  });
});

describe("rules", () => {
  const pools = [
    ["1", "2", "3"],
    ["1", "2", "3"],
  ];

  test("remove combinations, before samples are counted", () => {
    const rejecting = sweepOf(pools, { reject: [aRule("a == b")] });
    expect(commandsOf(rejecting)).toEqual(["1 2", "1 3", "2 1", "2 3", "3 1", "3 2"]);
    expect(commandsOf(sweepOf(pools, { when: [aRule("a == b")] }))).toEqual(["1 1", "2 2", "3 3"]);
    expect(new Set(commandsOf({ ...rejecting, samples: 6 })).size).toBe(6);
    expect(() => commandsOf({ ...rejecting, samples: 7 })).toThrow(
      "7 samples were asked for, but there are 6 combinations that the rules allow",
    );
  });

  test("that allow nothing are an error", () => {
    expect(() => commandsOf(sweepOf(pools, { when: [aRule("a > 3")] }))).toThrow(
      "the rules leave out all 9 combinations",
    );
  });

  test("also apply to drawn values; if none is ever allowed, it is an error", () => {
    const drawn = { samples: 20, when: [aRule("a > 0.9")] };
    const commands = commandsOf(aSweep("{a}", [["a=uniform:0..1"]], drawn));
    expect(commands.every((each) => Number(each) > 0.9)).toBe(true);
    expect(() =>
      commandsOf(aSweep("{a}", [["a=uniform:0..1"]], { samples: 2, when: [aRule("a > 1")] })),
    ).toThrow(
      "2 samples were asked for, but after 0 of them 20000 tries brought no other that is new and allowed",
    );
  });
});

describe("values drawn at random", () => {
  const mixed = [["lr=log:1e-5..1e-1"], ["n=int:1..10"], ["opt", "sgd", "adam"]];

  test("combine with lists, are distinct, and are the same for a seed", () => {
    const sweep = aSweep("{lr} {n} {opt}", mixed, { samples: 200, seed: 5 });
    const commands = commandsOf(sweep);
    expect(new Set(commands).size).toBe(200);
    for (const optimizer of ["sgd", "adam"]) {
      expect(commands.filter((each) => each.endsWith(optimizer)).length).toBeGreaterThan(70);
    }
    expect(commandsOf(sweep)).toEqual(commands);
    expect(commandsOf({ ...sweep, seed: 6 })).not.toEqual(commands);
  });

  test("of whole numbers can run out", () => {
    const sweep = aSweep("{n}", [["n=int:1..5"]], { samples: 5 });
    expect(commandsOf(sweep).sort()).toEqual(["1", "2", "3", "4", "5"]);
    expect(() => commandsOf({ ...sweep, samples: 6 })).toThrow("but there are 5 combinations");
  });

  test("can run out if there are only two between the ends", () => {
    expect(() => commandsOf(aSweep("{a}", [["a=uniform:0..5e-324"]], { samples: 3 }))).toThrow(
      "3 samples were asked for, but after 2 of them 20000 tries brought no other",
    );
  });

  test("need a number of samples, and no grid", () => {
    const sweep = aSweep("{n}", [["n=int:1..5"]]);
    expect(() => commandsOf(sweep)).toThrow("n is drawn at random: how many samples?");
    expect(() => commandsOf({ ...sweep, samples: 2, samplingMode: "grid" })).toThrow(
      "n is drawn at random and has no place in a grid",
    );
  });
});
