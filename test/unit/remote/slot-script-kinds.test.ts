// Runs slot.sh on a spool whose jobs have several needs: which job begins, and which one goes first.

import { existsSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { attemptKey } from "../../../src/model/attempt-key.js";
import { claimDir } from "./a-claim.js";
import { BATCH, HOST, SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const keyOf = (id: number) => attemptKey({ rank: id, job: id, number: 1 });
const [A, B, C, D] = [keyOf(1), keyOf(2), keyOf(3), keyOf(4)];
/** Cards whose memory is not measured. */
const card = (index: number) => `card ${index} GPU-${index} nvidia 8000 - - t -`;
const ROOM = ["cpu 8000 0", "keep 0 0 0", "jobs -"];

describe.each(SHELLS)("under %s", (name, shell) => {
  const { home, spool } = useSpool(shell);

  beforeEach(async () => {
    await spool.slot(1);
  });

  const go = () => home.write("go", "");
  const waits = () => `until [ -e ${home.path("go")} ]; do sleep 0.2; done`;
  const notes = (key: string) => `echo ${key} >>"$HOME/order"`;
  const orderOf = async () =>
    existsSync(home.path("order")) ? (await home.read("order")).trim().split("\n") : [];

  test("one slot takes jobs of every need, in their order, each with a claim for its own", async () => {
    await spool.need(["need 2 2000 0"], "big");
    await spool.room([...ROOM, card(0)]);
    await spool.need(["need 1 1000 0", "cards 1 0 9 100 1 * 0"], "card");
    const claim = `head -n 1 "$HOME/${claimDir()}/${BATCH}@${HOST}.0"`;
    await spool.job(A, claim);
    await spool.job(B, claim, "-", { kind: "big" });
    await spool.job(C, claim, "-", { kind: "card" });
    await spool.job(D, claim);
    await spool.run();
    const claims = await Promise.all([A, B, C, D].map((key) => spool.read(`jobs/${key}/out`)));
    expect(claims).toEqual([
      "1 1 0 0 0 0 -\n",
      "2 2 0 0 0 0 -\n",
      "1 1 9 0.1 1 0 GPU-0\n",
      "1 1 0 0 0 0 -\n",
    ]);
    const started = (await spool.events()).filter((line) => line.startsWith("started"));
    expect(started.map((line) => line.split(" ")[1])).toEqual([A, B, C, D]);
  });

  test("a claim for more is kept for a job that needs less of the same, but not for other cards", async () => {
    await spool.need(["need 5 2000 0"], "big");
    await spool.need(["need 5 2000 1"], "machine");
    const claim = `head -n 1 "$HOME/${claimDir()}/${BATCH}@${HOST}.0"`;
    await spool.job(A, claim, "-", { kind: "big" });
    await spool.job(B, claim);
    await spool.job(C, claim, "-", { kind: "machine" });
    await spool.run();
    const claims = await Promise.all([A, B, C].map((key) => spool.read(`jobs/${key}/out`)));
    expect(claims).toEqual(["5 2 0 0 0 0 -\n", "5 2 0 0 0 0 -\n", "5 2 0 0 0 1 -\n"]);
  });

  const shortages: [string, string[], string[], string[], RegExp][] = [
    // Other tests may use all cores, so these needs fit only by the overload.
    ["cores", ["need 1 2000 0"], ["need 1 1500 0"], ["cpu 1000 0"], / cores:1500:-1000$/],
    ["max_jobs", ["need 1 1000 0"], ["need 2 1000 0"], [], / jobs:1$/],
    [
      "a card's amount",
      ["need 1 1000 0", "cards 0 600 9 100 0 0 0"],
      ["need 1 1000 0", "cards 0 500 9 100 0 0 0"],
      [card(0)],
      / cards:500:0 card:0:amount:500:400$/,
    ],
    [
      "a card's computing",
      ["need 1 1000 0", "cards 1 0 9 700 0 0 0"],
      ["need 1 1000 0", "cards 1 0 9 600 0 0 0"],
      [card(0)],
      / cards:1000:0 card:0:use:600:700$/,
    ],
    ["the machine", ["need 1 1000 0"], ["need 1 1000 1"], [], / machine:-:b-\w+$/],
    [
      "a resource",
      ["need 1 1000 0", "wants nvme 600"],
      ["need 1 1000 0", "wants nvme 500"],
      ["res nvme 0 1000"],
      / res:nvme:500:400$/,
    ],
  ];
  // The arithmetic is the same in every shell.
  test.each(name === "dash" ? shortages : shortages.slice(1, 3))(
    "jobs of two needs never use more than there is: %s",
    async (what, need, otherNeed, lines, reason) => {
      await spool.room([...ROOM.slice(0, 2), what === "max_jobs" ? "jobs 1" : "jobs -", ...lines]);
      await spool.need(need);
      await spool.need(otherNeed, "big");
      await spool.job(A, waits());
      await spool.job(B, "true", "-", { kind: "big" });
      const first = spool.start(0);
      await spool.untilEvent(`started ${A}`);
      const second = spool.start(1);
      expect(await spool.untilEvent(`waits 1 ${B} big `)).toMatch(reason);
      expect(spool.exists(`jobs/${B}/claim`)).toBe(false);
      await go();
      await Promise.all([first.ended, second.ended]);
      expect(await spool.read(`jobs/${B}/exit`)).toBe("0\n");
    },
  );

  test("jobs that fit run at the same time, on one card", async () => {
    await spool.room([...ROOM, card(0)]);
    await spool.need(["need 1 1000 0", "cards 0 500 9 500 0 * 0"]);
    await spool.need(["need 1 1000 0", "cards 0 250 9 250 0 * 0"], "small");
    await spool.job(A, `echo "$CUDA_VISIBLE_DEVICES"; ${waits()}`);
    await spool.job(B, `echo "$CUDA_VISIBLE_DEVICES"; ${waits()}`, "-", { kind: "small" });
    const loops = [spool.start(0), spool.start(1)];
    await Promise.all([spool.untilEvent(`started ${A}`), spool.untilEvent(`started ${B}`)]);
    await go();
    await Promise.all(loops.map(({ ended }) => ended));
    expect([await spool.read(`jobs/${A}/out`), await spool.read(`jobs/${B}/out`)]).toEqual(["0\n", "0\n"]);
  });

  test("a later job overtakes one that waits for something else, but does not take what that one waits for", async () => {
    await spool.room([...ROOM, card(0), card(1)]);
    // Two cards for themselves; one card; none. So few cores that a busy machine has room for all.
    await spool.need(["need 1 100 0", "cards 1 0 9 100 1 0 0"]);
    await spool.need(["need 1 100 0", "cards 2 0 9 100 1 * 0"], "both");
    await spool.need(["need 1 100 0", "cards 1 0 9 100 1 1 0"], "one");
    await spool.need(["need 1 50 0"], "none");
    await spool.job(A, waits());
    await spool.job(B, notes(B), "-", { kind: "both" });
    await spool.job(C, notes(C), "-", { kind: "one" });
    await spool.job(D, notes(D), "-", { kind: "none" });
    const first = spool.start(0);
    await spool.untilEvent(`started ${A}`);
    const second = spool.start(1);
    await spool.untilEvent(`ended ${D}`);
    expect(await spool.untilEvent(`waits 1 ${C} one `)).toMatch(new RegExp(` kept:${B}$`));
    expect(await orderOf()).toEqual([D]);
    await go();
    await Promise.all([first.ended, second.ended]);
    expect(await orderOf()).toEqual([D, B, C]);
  });

  test("a job that could not start anyway keeps nothing from later ones", async () => {
    await spool.need(["need 999999999 1000 0"], "never");
    await spool.job(A, "true", "-", { kind: "never" });
    await spool.job(B, "true");
    const loop = spool.start(0);
    await spool.untilEvent(`ended ${B} 0 0`);
    await home.write(`.sshoal/batches/${BATCH}@${HOST}/jobs/${A}/claim`, "client\n");
    await loop.ended;
  });
});
