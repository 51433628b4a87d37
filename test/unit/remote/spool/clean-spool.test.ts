// Runs the end of a batch: its spool is removed, and those trees that no batch uses.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { chmod, link, mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { clean } from "../../../../src/remote/spool/clean-spool.js";
import { connectLocal } from "../../../../src/transport/local.js";
import { saveGpus } from "../../../rig/gpus.js";
import { slowRm } from "../../../rig/slow-rm.js";
import { until } from "../../../rig/until.js";
import { type LocalMachine, makeLocalMachine, never } from "../a-local-machine.js";
import { BATCH, HOST, type Home, makeHome, makeSpool, SHELLS } from "../a-spool.js";

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

  /** Named by a letter; last used this long ago. */
  async function aTree(letter: string, ageSeconds: number, bytes = 10): Promise<void> {
    await machine.write(`.sshoal/trees/${nameOf(letter)}/data`, Buffer.alloc(bytes, letter));
    const when = Date.now() / 1000 - ageSeconds;
    await utimes(machine.path(".sshoal/trees", nameOf(letter)), when, when);
  }

  const nameOf = (letter: string) => letter.repeat(40);
  const trees = () => readdirSync(machine.path(".sshoal/trees")).map((name) => name[0]);
  const cleanUp = (limits = { trees: 20, bytes: HUGE }) =>
    clean(machine.session, machine.place, never, limits);

  test("the spool is removed, and trees that were unused for a week", async () => {
    await aTree("a", DAY);
    await aTree("b", 9 * DAY);
    await aTree("c", 9 * DAY);
    await machine.write(".sshoal/batches/other@elsewhere/trees", `${nameOf("c")}\n`);
    await cleanUp();
    expect(existsSync(machine.path(machine.spool))).toBe(false);
    expect(trees()).toEqual(["a", "c"]);
    expect(readdirSync(machine.path(".sshoal")).filter((name) => name.startsWith("removing"))).toEqual([]);
  });

  test("beyond a number of trees, the oldest unused ones are removed; a new one stays", async () => {
    for (const [age, letter] of ["a", "b", "c", "d", "e"].entries()) await aTree(letter, 3600 * (age + 1));
    await aTree("f", 0);
    await machine.write(".sshoal/batches/other@elsewhere/trees", `${nameOf("e")}\n`);
    await cleanUp({ trees: 2, bytes: HUGE });
    expect(trees()).toEqual(["a", "e", "f"]);
    await cleanUp({ trees: 0, bytes: HUGE });
    expect(trees()).toEqual(["e", "f"]);
  });

  test("also beyond a total size; files that two trees share count once", async () => {
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

  test("removing a tree does not change the modes of files that other trees share", async () => {
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

test("the claims of its slots are removed, and their directory if no other batch has claims", async () => {
  const machine = await makeLocalMachine();
  const root = process.env.SSHOAL_CLAIMS ?? "";
  const dir = join(root, `.sshoal-claims-${process.getuid?.()}`);
  const spool = `${BATCH}@${HOST}`;
  await mkdir(machine.path(machine.spool, "slots"), { recursive: true });
  await mkdir(dir);
  for (const name of [`${spool}.0`, `${spool}.11`, `other@${HOST}.0`, ".freed", ".cards", ".cards.lock"])
    await writeFile(join(dir, name), "");
  await clean(machine.session, machine.place, never);
  expect(readdirSync(dir).filter((name) => !name.startsWith("."))).toEqual([`other@${HOST}.0`]);
  await rm(join(dir, `other@${HOST}.0`));
  await writeFile(join(dir, `${spool}.0`), "");
  await clean(machine.session, machine.place, never);
  expect(existsSync(dir)).toBe(false);
  await machine.close();
});

test("a slot that still runs while the spool is removed begins no job", async () => {
  const [, dash] = SHELLS[0] as (typeof SHELLS)[number];
  const home = await makeHome(dash);
  const spool = await makeSpool(home, dash);
  // Between two checks the slot sleeps until this file exists, and its card is full.
  const wake = `[ -e '${home.path("wake")}' ]`;
  await home.write("bin/sleep", `#!/bin/sh\n[ "$1" != 1 ] || until ${wake}; do /bin/sleep 0.02; done\n`);
  const uuid = "GPU-00000000-0000-0000-0000-000000000000";
  saveGpus(home.path("nvidia-smi.state"), { gpus: [{ memoryFree: 10 }] });
  await spool.room(["cpu 8000 0", "keep 0 0 0", "jobs -", `card 0 ${uuid} nvidia 24576 24268 0 - -`]);
  await spool.need(["need 1 1000 0", "cards 1 0 1000 750 1 * 0"], "card");
  await spool.slot(1);
  await spool.job("0000002-1", 'echo ran >>"$HOME/ran"', "-", { kind: "card" });
  // Not by the rig, which reads the slot's log at its end.
  const late = spawn("dash", ["slot.sh", spool.dir, "1"], {
    cwd: spool.dir,
    env: { ...home.env },
    detached: true,
    stdio: "ignore",
  });
  await spool.untilEvent("waits 1");
  await spool.job("0000001-1", 'echo ran >>"$HOME/ran"');
  await spool.run(0);
  await home.write("bin/rm", slowRm({ half: home.path("half"), go: home.path("go") }));
  vi.stubEnv("PATH", home.env.PATH);
  const session = await connectLocal({ homeDir: home.dir });
  const cleaning = clean(session, { batch: BATCH, scratch: null }, never);
  await until("a half of it is removed", () => existsSync(home.path("half")));
  saveGpus(home.path("nvidia-smi.state"), { gpus: [{}] });
  await home.write("wake", "");
  await until("the slot has ended", () => late.exitCode !== null);
  await home.write("go", "");
  await cleaning;
  expect(await home.read("ran")).toBe("ran\n");
  expect(readdirSync(home.path(".sshoal")).filter((name) => name.startsWith("removing"))).toEqual([]);
  vi.unstubAllEnvs();
  await session.close();
  await home.close();
});
