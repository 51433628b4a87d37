import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { editDistance, suggest } from "../../../src/input/suggest.js";

const KEYS = ["username", "ip", "host", "port", "ssh_key_path", "gpus", "exclude_gpus", "max_jobs", "env"];

describe("a mistyped word finds the intended one", () => {
  test.each([
    ["usrname", "username"],
    ["Username", "username"],
    ["user", "username"],
    ["prot", "port"],
    ["pi", "ip"],
    ["hostname", "host"],
    ["gpu", "gpus"],
    ["max-jobs", "max_jobs"],
    ["maxjobs", "max_jobs"],
    ["sshkeypath", "ssh_key_path"],
    ["key", "ssh_key_path"],
    ["excludegpus", "exclude_gpus"],
  ])("%s: %s", (word, meant) => {
    expect(suggest(word, KEYS)[0]).toBe(meant);
  });

  test.each(["colour", "", "x1", "password", "localhost"])("nothing is near %j", (word) => {
    expect(suggest(word, KEYS)).toEqual([]);
  });

  test("the nearest comes first", () => {
    expect(suggest("titan12", ["titan34", "titan2", "saturn", "titan13"])).toEqual([
      "titan2",
      "titan13",
      "titan34",
    ]);
  });
});

describe("edit distance", () => {
  test.each([
    ["", "", 0],
    ["", "abc", 3],
    ["kitten", "sitting", 3],
    ["ab", "ba", 1],
    ["abcd", "acbd", 1],
  ])("%j to %j is %d", (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  test("is symmetric, zero only for equal words, and at most the longer length", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBe(editDistance(b, a));
        expect(distance === 0).toBe(a === b);
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
        expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      }),
    );
  });
});
