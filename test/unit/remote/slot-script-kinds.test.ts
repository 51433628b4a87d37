// Runs slot.sh on a spool with jobs of several kinds: which slot takes which job, and which one goes first.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attemptKey } from "../../../src/model/attempt-key.js";
import { until } from "../../rig/until.js";
import { BATCH, HOST, type Home, liveLine, makeHome, makeSpool, SHELLS, type Spool } from "./a-spool.js";

const keyOf = (id: number) => attemptKey({ rank: id, job: id, number: 1 });
const [A, B, C, D] = [keyOf(1), keyOf(2), keyOf(3), keyOf(4)];
/** Cores of a job and of the machine, in thousandths; the most jobs. */
const LIGHT = "1000 9000 9";
const SLOTS = `.sshoal/batches/${BATCH}@${HOST}/slots`;

describe.each(SHELLS)("under %s", (name, shell) => {
  let home: Home;
  let spool: Spool;

  beforeEach(async () => {
    home = await makeHome(shell);
    spool = await makeSpool(home, shell);
  });
  afterEach(() => home.close());

  const go = () => home.write("go", "");
  const waits = () => `until [ -e ${home.path("go")} ]; do sleep 0.2; done`;

  test("a slot takes the jobs of its kind, and no others", async () => {
    await spool.slot(0, { room: ["-", LIGHT] });
    await spool.slot(1, { room: ["big", LIGHT] });
    await spool.job(A, "true");
    await spool.job(B, "true", "-", { kind: "big" });
    await spool.job(C, "true", "-", { kind: "other" });
    await spool.run(0);
    expect([A, B, C].map((key) => spool.exists(`jobs/${key}/exit`))).toEqual([true, false, false]);
    await spool.run(1);
    expect([A, B, C].map((key) => spool.exists(`jobs/${key}/exit`))).toEqual([true, true, false]);
  });

  test("a slot without kinds does not take jobs that have one", async () => {
    await spool.job(A, "true", "-", { kind: "big" });
    await spool.job(B, "true");
    await spool.run(0);
    expect([A, B].map((key) => spool.exists(`jobs/${key}/exit`))).toEqual([false, true]);
  });

  const shortages: [string, string, string[], string[], RegExp][] = [
    ["cores", "1 1 0 0 0 0 -", ["-", "3000 5000 9"], ["big", "2500 5000 9"], /^cores: other jobs/],
    ["max_jobs", "1 1 0 0 0 0 -", ["-", "1000 9000 1"], ["big", "1000 9000 1"], /^max_jobs: as many/],
    [
      "a card's memory",
      "1 1 0 0 0 0 GPU-1",
      ["-", LIGHT, "GPU-1 3000 100 8000 1200"],
      ["big", LIGHT, "GPU-0 6000 100 8000 1200", "GPU-1 6000 100 8000 1200"],
      /^GPU GPU-1: other jobs of the batch are there/,
    ],
    [
      "a card's computing",
      "1 1 0 0 0 0 GPU-1",
      ["-", LIGHT, "GPU-1 1 700 8000 1200"],
      ["big", LIGHT, "GPU-1 1 600 8000 1200"],
      /^GPU GPU-1: other jobs of the batch are there/,
    ],
    [
      "the machine",
      "1 1 0 0 0 1 -",
      ["-", LIGHT],
      ["big", LIGHT],
      /^other jobs of the batch have the machine/,
    ],
  ];
  // The arithmetic is the same in every shell.
  test.each(name === "dash" ? shortages : shortages.slice(1, 3))(
    "two kinds never use more than there is: %s",
    async (_, need, room, otherRoom, reason) => {
      await spool.slot(0, { need: need.replace("1 -", "0 -"), room });
      await spool.slot(1, { need, room: otherRoom });
      await spool.job(A, waits());
      await spool.job(B, "true", "-", { kind: "big" });
      const first = spool.start(0);
      await spool.untilEvent(`started ${A}`);
      const second = spool.start(1);
      const event = await spool.untilEvent("waiting 1 ");
      expect(event.slice("waiting 1 ".length)).toMatch(reason);
      expect(spool.exists(`jobs/${B}/claim`)).toBe(false);
      await go();
      await Promise.all([first.ended, second.ended]);
      expect(await spool.read(`jobs/${B}/exit`)).toBe("0\n");
    },
  );

  test("jobs that fit run at the same time", async () => {
    await spool.slot(0, {
      need: "1 1 0 0 0 0 GPU-1",
      room: ["-", "3000 5000 9", "GPU-1 3000 600 8000 1200"],
    });
    await spool.slot(1, {
      need: "1 1 0 0 0 0 GPU-1",
      room: ["big", "2000 5000 9", "GPU-1 5000 600 8000 1200"],
    });
    await spool.job(A, waits());
    await spool.job(B, waits(), "-", { kind: "big" });
    const loops = [spool.start(0), spool.start(1)];
    await Promise.all([spool.untilEvent(`started ${A}`), spool.untilEvent(`started ${B}`)]);
    await go();
    await Promise.all(loops.map(({ ended }) => ended));
  });

  test("a later job lets an earlier one of another kind go first, but not one that waits for something else", async () => {
    const card = (name: string) => `GPU-${name} 1000 100 8000 1200`;
    await spool.slot(0, { need: "1 1 9 0.1 1 0 GPU-1", room: ["-", LIGHT, card("1")] });
    await spool.slot(1, { need: "1 1 9 0.1 1 0 GPU-1", room: ["big", LIGHT, card("1")] });
    await spool.slot(2, { need: "1 1 9 0.1 1 0 GPU-2", room: ["third", LIGHT, card("2")] });
    await spool.job(A, waits());
    const noted = (key: string) => `echo ${key} >>"$HOME/order"`;
    await spool.job(B, noted(B), "-", { kind: "big" });
    await spool.job(C, noted(C));
    await spool.job(D, noted(D), "-", { kind: "third" });
    const first = spool.start(0);
    await spool.untilEvent(`started ${A}`);
    const second = spool.start(1);
    await spool.untilEvent("waiting 1 ");
    await until("it says what it wants", () => spool.exists("slots/1/wants"));
    await spool.run(2);
    expect(spool.exists(`jobs/${D}/exit`)).toBe(true);
    await go();
    await Promise.all([first.ended, second.ended]);
    expect(await home.read("order")).toBe(`${D}\n${B}\n${C}\n`);
  });

  test("a slot waits while an earlier job of another kind needs the same, but not for a later one", async () => {
    await spool.slot(0, { room: ["-", LIGHT] });
    await spool.slot(1, { room: ["big", LIGHT] });
    await home.write(`${SLOTS}/1/loop`, liveLine(process.pid));
    await home.write(`${SLOTS}/1/wants`, `${A} big all\n`);
    await spool.job(B, "true");
    const loop = spool.start(0);
    await spool.untilEvent("waiting 0 job 1 comes first");
    await home.write(`${SLOTS}/1/wants`, `${C} big all\n`);
    await loop.ended;
    expect(spool.exists(`jobs/${B}/exit`)).toBe(true);
  });
});
