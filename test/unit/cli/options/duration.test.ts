import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDuration } from "../../../../src/cli/options/duration.js";

test.each([
  ["90s", 90],
  ["10m", 600],
  ["2h", 7200],
  ["1d", 86_400],
  ["1h30m", 5400],
  ["1.5h", 5400],
  ["0.1s", 1],
  ["30m1h", 5400],
])("%s is %i s", (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each([
  "",
  "10",
  "m",
  "-5m",
  "5 m",
  "5M",
  "1e3s",
  "0s",
  "0.0h",
  "5m ",
  "5min",
  "1h30",
  ".5h",
  "1.h",
  "99999999999d",
  "∞s",
])("%j is not a duration", (text) => {
  expect(parseDuration(text)).toBeNull();
});

test("the parts are added", () => {
  const part = fc.nat(500);
  fc.assert(
    fc.property(part, part, part, part, (d, h, m, s) => {
      const sum = ((d * 24 + h) * 60 + m) * 60 + s;
      expect(parseDuration(`${d}d${h}h${m}m${s}s`)).toBe(sum === 0 ? null : sum);
    }),
  );
});
