// Directories that another account could change: created first, linked, replaced, or open to every account.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { chmod, chown, mkdir, symlink } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Place, prelude } from "../../../src/remote/engine/layout.js";
import { collect } from "../../../src/remote/results/collect.js";
import { clean } from "../../../src/remote/spool/clean-spool.js";
import { Control } from "../../../src/remote/spool/control.js";
import { follow } from "../../../src/remote/spool/follow.js";
import { handOver } from "../../../src/remote/spool/hand-over.js";
import { findLeftOver } from "../../../src/remote/spool/leftovers.js";
import { readLog } from "../../../src/remote/spool/read-log.js";
import { readSpoolFormat } from "../../../src/remote/spool/spool-format.js";
import { stage } from "../../../src/remote/tree/stage.js";
import { noTree, scanTree } from "../../../src/remote/tree/tree.js";
import { unstage } from "../../../src/remote/tree/unstage.js";
import { until } from "../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";
import { anOrder, type LocalMachine, makeLocalMachine, never } from "./a-local-machine.js";
import { BATCH, HOST, type Home, makeHome, SHELLS } from "./a-spool.js";

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn("SKIPPED: tests with files of another account, since only root can make them");

const STRANGER = 1234;
const A = "0000001-1";

async function give(path: string, uid = STRANGER): Promise<void> {
  await chown(path, uid, uid);
}

async function foreign(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await give(path);
}

describe.each(SHELLS)("under %s", (_, shell) => {
  let home: Home;
  let disk: Workspace;

  beforeEach(async () => {
    [home, disk] = [await makeHome(shell), await makeWorkspace()];
  });
  afterEach(async () => {
    await Promise.all([home.close(), disk.remove()]);
  });

  /** The beginning of every script, and then `script`. */
  function run(scratch: Place["scratch"], script = 'echo "$base $root"') {
    const [file, ...words] = shell.words;
    const text = `${prelude({ batch: BATCH, scratch })}${script}`;
    const { stdout, stderr, status } = spawnSync(file, [...words, "-c", text], {
      cwd: home.dir,
      env: home.env,
      encoding: "utf8",
    });
    return { stdout, stderr, status };
  }

  function expectRefusal(scratch: Place["scratch"], reason: string): void {
    expect(run(scratch)).toEqual({ stdout: "", stderr: `not safe: ${reason}\n`, status: 1 });
  }

  describe.skipIf(!isRoot)("is refused", () => {
    test.each([".sshoal", ".sshoal/batches", ".sshoal/trees", `.sshoal/batches/${BATCH}@${HOST}`])(
      "%s of another account",
      async (path) => {
        await foreign(disk.path(path));
        expectRefusal(disk.dir, `${disk.path(path)} belongs to another account`);
        await foreign(home.path(path));
        expectRefusal(null, `${home.path(path)} belongs to another account`);
      },
    );

    test(".sshoal of another account in a directory like /tmp", async () => {
      await chmod(disk.dir, 0o1777);
      await foreign(disk.path(".sshoal"));
      await chmod(disk.path(".sshoal"), 0o777);
      expectRefusal(disk.dir, `${disk.path(".sshoal")} belongs to another account`);
    });

    test("a directory that another account made in one like /tmp", async () => {
      await chmod(disk.dir, 0o1777);
      await foreign(disk.path("me"));
      await chmod(disk.path("me"), 0o1777);
      expectRefusal(disk.path("me"), `${disk.path("me")} belongs to another account`);
      expectRefusal(disk.path("me/deep/er"), `${disk.path("me")} belongs to another account`);
    });
  });

  describe("is refused", () => {
    test.each([".sshoal", ".sshoal/batches", ".sshoal/trees"])(
      "%s that is a link, even to a directory of ours",
      async (path) => {
        await mkdir(disk.path("ours/.sshoal"), { recursive: true });
        await mkdir(disk.path("elsewhere"));
        await symlink(disk.path("elsewhere"), disk.path("ours", path)).catch(async () => {
          execFileSync("rmdir", [disk.path("ours/.sshoal")]);
          await symlink(disk.path("elsewhere"), disk.path("ours", path));
        });
        expectRefusal(disk.path("ours"), `${disk.path("ours", path)} is a symbolic link`);
      },
    );

    test("a link to a missing file", async () => {
      await symlink(home.path("nowhere"), home.path(".sshoal"));
      expectRefusal(null, `${home.path(".sshoal")} is a symbolic link`);
    });

    test("a file", async () => {
      await disk.write(".sshoal", "");
      expectRefusal(disk.dir, `${disk.path(".sshoal")} is not a directory`);
    });

    test.each(["", ".held"])("a pipe in place of the lock%s", async (end) => {
      await mkdir(home.path(".sshoal"));
      execFileSync("mkfifo", [home.path(`.sshoal/lock@${HOST}${end}`)]);
      expectRefusal(null, `${home.path(`.sshoal/lock@${HOST}${end}`)} is not a file of ours`);
    });

    test("a directory, or one above it, in which every account can rename", async () => {
      await mkdir(disk.path("open/below"), { recursive: true });
      await chmod(disk.path("open"), 0o777);
      for (const scratch of ["open", "open/below", "open/not/yet"])
        expectRefusal(disk.path(scratch), `every account can rename what is in ${disk.path("open")}`);
    });
  });

  test("a directory like /tmp may be used, and so may directories that do not exist yet", async () => {
    await chmod(disk.dir, 0o1777);
    const script = 'make_own "$root" "$root/batches" && ls -ld "$root" "$root/batches"';
    for (const scratch of [disk.dir, disk.path("not/yet")]) {
      const { stdout, stderr } = run(scratch, script);
      expect(stderr).toBe("");
      expect(stdout.match(/^drwx--/gm)).toHaveLength(2);
    }
  });

  test("links on the way to a directory are followed once", async () => {
    await mkdir(disk.path("real/place"), { recursive: true });
    await symlink("real", disk.path("link"));
    expect(run(disk.path("link/place")).stdout).toBe(
      `${home.path(".sshoal")} ${disk.path("real/place/.sshoal")}\n`,
    );
    expect(run(disk.path("link/new/one")).stdout).toBe(
      `${home.path(".sshoal")} ${disk.path("real/new/one/.sshoal")}\n`,
    );
  });

  test("with scratch: an unsafe ~/.sshoal is not used", async () => {
    await symlink(disk.path("elsewhere"), home.path(".sshoal"));
    expect(run(disk.dir).stdout).toBe(`${disk.path(".sshoal")} ${disk.path(".sshoal")}\n`);
  });

  test("our directory that is open to others is made private", async () => {
    await mkdir(home.path(".sshoal/batches"), { recursive: true });
    await chmod(home.path(".sshoal"), 0o755);
    await chmod(home.path(".sshoal/batches"), 0o770);
    expect(run(null, 'make_own "$root" "$root/batches"')).toEqual({ stdout: "", stderr: "", status: 0 });
    for (const path of [".sshoal", ".sshoal/batches"])
      expect(statSync(home.path(path)).mode & 0o777).toBe(0o700);
  });
});

describe.skipIf(!isRoot)("a spool that another account has made in our place", () => {
  let machine: LocalMachine;
  let disk: Workspace;
  let place: Place;

  beforeEach(async () => {
    [machine, disk] = [await makeLocalMachine(), await makeWorkspace()];
    await chmod(disk.dir, 0o1777);
    place = { batch: BATCH, scratch: disk.dir };
    const spool = `.sshoal/batches/${BATCH}@${HOST}`;
    await disk.write(`${spool}/settings`, `echo settings >>${disk.path("ran")}\n`);
    await disk.write(`${spool}/lib.sh`, `echo lib.sh >>${disk.path("ran")}\n`);
    await disk.write(`${spool}/slot.sh`, `echo slot.sh >>${disk.path("ran")}\n`);
    await disk.write(`${spool}/manifest`, "");
    await disk.write(`${spool}/slots/0/events`, `ended ${A} 0 0 1\n`);
    await disk.write(`${spool}/jobs/${A}/exit`, "0\n");
    await mkdir(disk.path(".sshoal/trees"));
    execFileSync("chown", ["-R", `${STRANGER}:${STRANGER}`, disk.path(".sshoal")]);
    execFileSync("chmod", ["-R", "777", disk.path(".sshoal")]);
  });
  afterEach(async () => {
    await Promise.all([machine.close(), disk.remove()]);
  });

  test.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    ["looking for it", (signal) => readSpoolFormat(machine.session, place, signal)],
    ["reading its log", (signal) => readLog(machine.session, place, signal)],
    ["handing over", () => handOver(machine.session, { ...anOrder(machine, { [A]: "true" }), place })],
    [
      "copying the working directory",
      async (signal) => {
        const tree = await scanTree(
          disk.dir,
          ["ran"].filter((name) => existsSync(disk.path(name))),
        );
        return stage(machine.session, {
          place,
          tree: { ...tree, hash: "a".repeat(40) },
          signal,
          onProgress: () => {},
        });
      },
    ],
    [
      "taking it back",
      (signal) => unstage(machine.session, { place, tree: { ...noTree("/"), hash: "a".repeat(40) }, signal }),
    ],
    [
      "collecting",
      (signal) =>
        collect(machine.session, {
          place,
          copyBack: ["."],
          into: disk.dir,
          signal,
          jobs: [{ key: A, streams: [] }],
        }),
    ],
    ["cleaning up", (signal) => clean(machine.session, place, signal)],
    ["looking for leftovers", (signal) => findLeftOver(machine.session, disk.dir, signal)],
  ])("%s is refused, with the reason and what to do", async (_, verb) => {
    const before = execFileSync("find", [disk.dir]).toString();
    await expect(verb(never)).rejects.toMatchObject({
      message: expect.stringMatching(/not safe: \S+\/\.sshoal belongs to another account$/),
      hint: expect.stringContaining("scratch: to a directory that only you can write to"),
    });
    expect(execFileSync("find", [disk.dir]).toString()).toBe(before);
  });

  test("a control channel ends, and runs nothing from it", async () => {
    const control = await Control.open(machine.session, place);
    await expect(control.tend()).rejects.toThrow(/the control channel failed: not safe: /);
    expect(existsSync(disk.path("ran"))).toBe(false);
  });

  test("its log is not followed", async () => {
    const seen: unknown[] = [];
    await follow(machine.session, {
      place,
      known: new Map(),
      signal: never,
      onEvent: (event) => seen.push(event),
    });
    expect(seen).toEqual([]);
  });

  test("one behind our own link is neither listed nor awaited", async () => {
    const other = `other-${"0".repeat(8)}@${HOST}`;
    await foreign(disk.path(".sshoal/batches", other));
    await mkdir(machine.path(".sshoal/batches"), { recursive: true });
    await symlink(disk.path(".sshoal/batches", other), machine.path(".sshoal/batches", other));
    execFileSync("mkfifo", [disk.path(".sshoal/batches", other, "trees")]);
    await machine.write(`.sshoal/trees/${"b".repeat(40)}/data`, "1");
    const { batches } = await findLeftOver(machine.session, null, never);
    expect(batches).toEqual([]);
    const tree = { ...noTree("/"), hash: "b".repeat(40) };
    await unstage(machine.session, { place: machine.place, tree, signal: never });
    expect(existsSync(machine.path(".sshoal/trees", "b".repeat(40)))).toBe(false);
  });
});

test("handing over makes an open ~/.sshoal private, and so does copying the working directory", async () => {
  const machine = await makeLocalMachine();
  try {
    const modes = () =>
      [".sshoal", ".sshoal/trees", ".sshoal/batches"].map(
        (path) => statSync(machine.path(path)).mode & 0o777,
      );
    await machine.write("work/a.txt", "1");
    for (const path of [".sshoal", ".sshoal/trees", ".sshoal/batches"])
      await mkdir(machine.path(path), { mode: 0o755 });
    const tree = await scanTree(machine.path("work"), ["."]);
    await stage(machine.session, { place: machine.place, tree, signal: never, onProgress: () => {} });
    expect(modes()).toEqual([0o700, 0o700, 0o755]);
    await handOver(machine.session, anOrder(machine, { [A]: "true" }));
    expect(modes()).toEqual([0o700, 0o700, 0o700]);
    await machine.untilEvent("idle 0");
    await until("it has ended", () => existsSync(machine.path(machine.spool, "jobs", A, "exit")));
  } finally {
    await machine.close();
  }
});
