// A few small rounds of the torture test, with fixed faults; npm run torture has the long ones.

import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../soak/seeded.js";
import { drawJobs } from "../torture/jobs.js";
import { type Machine, startMachines } from "../torture/machines.js";
import type { Fault, TimedFault } from "../torture/plan.js";
import { tortureRound } from "../torture/round.js";

const JOBS = 160;

let machines: readonly Machine[];
let stop: (() => Promise<void>) | undefined;
beforeAll(async () => {
  ({ machines, stop } = await startMachines());
});
afterAll(() => stop?.());

/** Each happens once this many jobs have begun. */
function after(starts: number, ...faults: readonly Fault[]): TimedFault[] {
  return faults.map((fault) => ({ afterStarts: starts, delayMs: 0, fault }));
}

async function expectNoProblems(faults: readonly TimedFault[]): Promise<void> {
  const random = seededRandom(faults.length);
  const outcome = await tortureRound(machines, { batch: drawJobs(JOBS, random), faults, random });
  const { problems, struck, clients } = outcome;
  await outcome.remove();
  const about = [...struck, ...clients.map(({ stderr }) => stderr)].join("\n");
  expect(problems, about).toEqual([]);
  expect(struck, about).toHaveLength(faults.length);
}

// A second try would hide what the first one found.
const ONCE = { retry: 0 };

test("client killed and connections cut: nothing is lost, run twice or left", ONCE, () =>
  expectNoProblems([
    ...after(1, { kind: "client", signal: "SIGKILL" }),
    ...after(15, { kind: "cut", machine: 0, awayMs: 0 }, { kind: "client", signal: "SIGTERM" }),
    ...after(40, { kind: "cut", machine: 1, awayMs: 300 }, { kind: "cut", machine: 2, awayMs: 0 }),
    ...after(60, { kind: "client", signal: "SIGHUP" }),
    ...after(80, { kind: "client", signal: "SIGKILL" }),
  ]),
);

test("machines rebooted and slots killed: nothing is lost, run twice, left or wrongly reported", ONCE, () =>
  expectNoProblems([
    ...after(12, {
      kind: "signal",
      machine: 0,
      signal: "SIGTERM",
      parts: ["loop", "keeper", "job"],
      isEverySlot: true,
      isGroup: true,
    } as const),
    ...after(25, {
      kind: "signal",
      machine: 1,
      signal: "SIGKILL",
      parts: ["keeper", "forker", "job"],
      isEverySlot: true,
      isGroup: false,
    } as const),
    ...after(40, { kind: "logout", machine: 2, signal: "SIGTERM" }),
    ...after(60, { kind: "reboot", machine: 1, awayMs: 0 }),
  ]),
);

test("hand-overs that fail, slow removal, too few processes: nothing is lost, run twice or left", ONCE, () =>
  expectNoProblems([
    ...after(
      0,
      { kind: "slow", machine: 2, tool: "rm" },
      { kind: "tool", machine: 0, tool: "setsid", way: "kills-parent", where: "hand-over", passes: 1 },
      { kind: "tool", machine: 1, tool: "tar", way: "fails-late", where: "hand-over", passes: 0 },
    ),
    ...after(30, { kind: "limit", machine: 2, spare: 3, forMs: 1500 }),
  ]),
);
