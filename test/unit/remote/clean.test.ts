// The end of a batch, for real: its spool goes, and of the trees only those that nobody uses.

import { existsSync, readdirSync, statSync } from "node:fs";
import { chmod, link, mkdir, utimes } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { clean } from "../../../src/remote/clean.js";
import { type LocalMachine, makeLocalMachine, never } from "./a-local-machine.js";
import { type Home, makeHome, SHELLS } from "./a-spool.js";

const DAY = 86_400;
const HUGE = 1e12;

describe.each(SHELLS.filter(([shell]) => shell !== "bash"))("with the tools of %s", (_, shell) => {
  let machine: LocalMachine;
  let home: Home;

  beforeEach(async () => {
    machine = await makeLocalMachine();
    home = await makeHome(shell);
    await mkdir(machine.path(machine.spool, "slots"), { recursive: true });
    vi.stubEnv("PATH", home.env.PATH);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await machine.close();
    await home.close();
  });

  /** By a letter; last used so long ago. */
  async function aTree(letter: string, ageSeconds: number, bytes = 10): Promise<void> {
    await machine.write(`.sshoal/trees/${nameOf(letter)}/data`, Buffer.alloc(bytes, letter));
    const when = Date.now() / 1000 - ageSeconds;
    await utimes(machine.path(".sshoal/trees", nameOf(letter)), when, when);
  }

  const nameOf = (letter: string) => letter.repeat(40);
  const trees = () => readdirSync(machine.path(".sshoal/trees")).map((name) => name[0]);
  const cleanUp = (limits = { trees: 20, bytes: HUGE }) =>
    clean(machine.session, machine.place, never, limits);

  test("the spool goes, and trees that were not used for a week", async () => {
    await aTree("a", DAY);
    await aTree("b", 9 * DAY);
    await aTree("c", 9 * DAY);
    await machine.write(".sshoal/batches/other@elsewhere/trees", `${nameOf("c")}\n`);
    await cleanUp();
    expect(existsSync(machine.path(machine.spool))).toBe(false);
    expect(trees()).toEqual(["a", "c"]);
    expect(readdirSync(machine.path(".sshoal")).filter((name) => name.startsWith("removing"))).toEqual([]);
  });

  test("beyond a number, the oldest that nobody uses go; one of just now stays", async () => {
    for (const [age, letter] of ["a", "b", "c", "d", "e"].entries()) await aTree(letter, 3600 * (age + 1));
    await aTree("f", 0);
    await machine.write(".sshoal/batches/other@elsewhere/trees", `${nameOf("e")}\n`);
    await cleanUp({ trees: 2, bytes: HUGE });
    expect(trees()).toEqual(["a", "e", "f"]);
    await cleanUp({ trees: 0, bytes: HUGE });
    expect(trees()).toEqual(["e", "f"]);
  });

  test("beyond a size, too; what two trees share counts once", async () => {
    await aTree("a", 3600, 1_000_000);
    await aTree("b", 7200, 1);
    await link(
      machine.path(".sshoal/trees", nameOf("a"), "data"),
      machine.path(".sshoal/trees", nameOf("b"), "shared"),
    );
    await utimes(
      machine.path(".sshoal/trees", nameOf("b")),
      Date.now() / 1000 - 7200,
      Date.now() / 1000 - 7200,
    );
    await aTree("c", 10_000, 1_000_000);
    await cleanUp({ trees: 20, bytes: 1_500_000 });
    expect(trees()).toEqual(["a", "b"]);
  });

  test("a tree that goes leaves the modes of files alone that others have too", async () => {
    await aTree("a", DAY);
    await aTree("b", 9 * DAY);
    const shared = machine.path(".sshoal/trees", nameOf("a"), "data");
    await chmod(shared, 0o400);
    await mkdir(machine.path(".sshoal/trees", nameOf("b"), "closed"));
    await link(shared, machine.path(".sshoal/trees", nameOf("b"), "closed/data"));
    await chmod(machine.path(".sshoal/trees", nameOf("b"), "closed"), 0o500);
    const when = Date.now() / 1000 - 9 * DAY;
    await utimes(machine.path(".sshoal/trees", nameOf("b")), when, when);
    await cleanUp();
    expect(trees()).toEqual(["a"]);
    expect(statSync(shared).mode & 0o777).toBe(0o400);
  });
});
