import { expect, test } from "vitest";
import { BackOff } from "../../../src/fleet/back-off.js";

test("the first session is opened at once, and so is one after a useful session", () => {
  const backOff = new BackOff();
  expect([backOff.restMs(), backOff.isResting]).toEqual([0, false]);
  backOff.noteOpened();
  backOff.noteUseful(0);
  expect([backOff.restMs(), backOff.isResting]).toEqual([0, false]);
});

test("after useless sessions the pause doubles, up to ten seconds", () => {
  const backOff = new BackOff();
  const rests = Array.from({ length: 9 }, () => {
    backOff.noteOpened();
    return backOff.restMs();
  });
  expect(rests).toEqual([200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);
});

test("dropped sessions within a minute of each other count as in a row, even useful ones", () => {
  const backOff = new BackOff();
  for (const now of [0, 59_000, 118_000]) {
    backOff.noteOpened();
    backOff.noteUseful(now);
    backOff.noteDropped(now);
  }
  expect([backOff.dropsInRow, backOff.restMs()]).toEqual([3, 800]);
  backOff.noteDropped(178_000);
  expect(backOff.dropsInRow).toBe(1);
  backOff.noteUseful(178_000 + 60_001);
  expect([backOff.dropsInRow, backOff.restMs()]).toEqual([0, 0]);
});
