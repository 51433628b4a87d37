import { expect, test } from "vitest";
import { parseClock, timeOnClock } from "../../../../src/remote/spool/machine-clock.js";

const CLOCK = parseClock("clock 5000.25 5b2c1d3e-0000-4000-8000-000000000000", 1_760_000_000_000);

test("the time of an event is computed from uptimes, whatever the machine's clock shows", () => {
  expect(timeOnClock(CLOCK, "498825", "5b2c1d3e")).toBe(1_760_000_000_000 - 12_000);
});

test.each([
  ["a boot before this one", "498825", "77777777"],
  ["an older slot, which writes no uptime", "", ""],
  ["an incomplete line", "498825", ""],
  ["no number", "49x", "5b2c1d3e"],
])("unknown for %s", (_, uptime, boot) => {
  expect(timeOnClock(CLOCK, uptime, boot)).toBeNull();
});

test.each(["", "clock", "clock  ", "clock 12 5b2c1d3e", "logs events"])("%j is not a clock", (line) => {
  expect(parseClock(line, 0)).toBeNull();
});
