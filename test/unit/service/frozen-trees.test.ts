import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { UserError } from "../../../src/errors.js";
import { scanTree } from "../../../src/remote/tree/tree.js";
import { type Freezing, freezeTree } from "../../../src/service/trees/freeze-tree.js";
import { pruneTrees } from "../../../src/service/trees/prune-trees.js";
import { frozenTreePath, openTreeStore, type TreeStore } from "../../../src/service/trees/tree-store.js";
import { aDir } from "./a-record.js";

const HOUR = 3_600_000;
let work: string;
let store: TreeStore;

beforeEach(() => {
  work = aDir();
  store = openTreeStore(path.join(aDir(), "trees"));
  write("train.py", "print(1)\n");
  write("lib/deep/a.py", "print(2)\n");
  write("lib/same.py", "print(1)\n");
  write("run.sh", "#!/bin/sh\n", 0o755);
  write("data/big.bin", "x".repeat(100_000));
  write(".sshoalignore", "*.tmp\n");
  write("scratch.tmp", "left out\n");
  mkdirSync(path.join(work, "empty"));
  symlinkSync("lib/same.py", path.join(work, "link"));
  symlinkSync("/nowhere", path.join(work, "dangling"));
});

function write(file: string, text: string, mode = 0o644): void {
  const full = path.join(work, file);
  mkdirSync(path.dirname(full), { recursive: true });
  writeFileSync(full, text);
  chmodSync(full, mode);
}

function freeze(over: Partial<Freezing> = {}) {
  return freezeTree({ store, dir: work, now: Date.now(), ...over });
}

const objects = () => readdirSync(store.objects).length;

test("a frozen directory has the hash of the original, and what was left out is not in it", async () => {
  const { hash } = await freeze();
  const frozen = frozenTreePath(store, hash);
  expect((await scanTree(frozen, ["."])).hash).toBe(hash);
  expect((await scanTree(work, ["."])).hash).toBe(hash);
  expect(readdirSync(frozen).sort()).toEqual(
    [".sshoalignore", "dangling", "data", "empty", "lib", "link", "run.sh", "train.py"].sort(),
  );
  expect(readFileSync(path.join(frozen, "lib/deep/a.py"), "utf8")).toBe("print(2)\n");
  expect(readlinkSync(path.join(frozen, "dangling"))).toBe("/nowhere");
  expect(statSync(path.join(frozen, "run.sh")).mode & 0o777).toBe(0o755);
  expect(readdirSync(store.drafts)).toEqual([]);
});

test("no other account can enter the store", () => {
  expect(statSync(path.dirname(store.trees)).mode & 0o777).toBe(0o700);
  for (const dir of Object.values(store)) expect(statSync(dir).mode & 0o777).toBe(0o700);
});

test("later edits of the original do not change a frozen directory", async () => {
  const { hash } = await freeze();
  writeFileSync(path.join(work, "train.py"), "print(3)\n");
  rmSync(path.join(work, "lib"), { recursive: true });
  expect(readFileSync(path.join(frozenTreePath(store, hash), "train.py"), "utf8")).toBe("print(1)\n");
});

test("equal content is stored once, within a tree and between trees", async () => {
  const first = await freeze();
  // The two files with print(1) share one.
  expect(objects()).toBe(5);
  expect((await freeze()).hash).toBe(first.hash);
  write("new.py", "print(9)\n");
  expect((await freeze()).hash).not.toBe(first.hash);
  expect([readdirSync(store.trees).length, objects()]).toEqual([2, 6]);
});

test("files of equal content but other modes keep their modes", async () => {
  write("copy.sh", "print(1)\n", 0o500);
  const { hash } = await freeze();
  const mode = (file: string) => statSync(path.join(frozenTreePath(store, hash), file)).mode & 0o777;
  expect([mode("copy.sh"), mode("train.py")]).toEqual([0o500, 0o644]);
});

test("an empty directory can be frozen", async () => {
  const { hash } = await freeze({ dir: aDir() });
  expect(hash).toBe("");
  expect(readdirSync(frozenTreePath(store, hash))).toEqual([]);
});

test("only the named paths are frozen, without excluded ones", async () => {
  const { hash } = await freeze({ paths: ["lib", "train.py"], exclude: ["deep"] });
  expect(readdirSync(frozenTreePath(store, hash)).sort()).toEqual(["lib", "train.py"]);
  expect(readdirSync(path.join(frozenTreePath(store, hash), "lib"))).toEqual(["same.py"]);
});

test("a file that changes all the time is an error of the user, and leaves nothing", async () => {
  const file = path.join(work, "data/big.bin");
  const script = `i=0; echo ready; while :; do i=$((i+1)); echo $i > '${file}'; done`;
  const writer = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  try {
    await new Promise((resolve) => writer.stdout.once("data", resolve));
    // Now and then all tries see the same content.
    const outcomes = new Set<string>();
    for (let n = 0; n < 5; n++)
      outcomes.add(
        await freeze().then(
          ({ hash }) => `frozen ${hash}`,
          (error: Error) => error.constructor.name,
        ),
      );
    for (const outcome of outcomes) {
      if (!outcome.startsWith("frozen ")) expect(outcome).toBe(UserError.name);
      else
        expect(`frozen ${(await scanTree(frozenTreePath(store, outcome.slice(7)), ["."])).hash}`).toBe(
          outcome,
        );
    }
    expect(readdirSync(store.drafts)).toEqual([]);
  } finally {
    const ended = new Promise((resolve) => writer.once("close", resolve));
    writer.kill("SIGKILL");
    await ended;
  }
});

test("freezing the same directory many times at once makes one tree", async () => {
  const trees = await Promise.all(Array.from({ length: 8 }, () => freeze()));
  expect(new Set(trees.map(({ hash }) => hash)).size).toBe(1);
  expect((await scanTree(frozenTreePath(store, trees[0]?.hash ?? ""), ["."])).hash).toBe(trees[0]?.hash);
  expect([readdirSync(store.trees).length, readdirSync(store.drafts).length]).toEqual([1, 0]);
});

test("trees that no job needs are removed with the files that only they have", async () => {
  const first = await freeze();
  write("new.py", "print(9)\n");
  const second = await freeze();
  const later = Date.now() + 2 * HOUR;
  expect(await pruneTrees(store, new Set([first.hash]), later)).toEqual([second.hash]);
  expect(readdirSync(store.trees)).toEqual([first.hash]);
  expect(await pruneTrees(store, new Set([first.hash]), later + 2 * HOUR)).toEqual([]);
  expect(objects()).toBe(5);
  expect((await scanTree(frozenTreePath(store, first.hash), ["."])).hash).toBe(first.hash);
  expect(readdirSync(store.leases)).toEqual([first.hash]);
});

test("a tree that was frozen a moment ago stays, also if it was old", async () => {
  const { hash } = await freeze();
  const later = Date.now() + 2 * HOUR;
  await freeze({ now: later });
  expect(await pruneTrees(store, new Set(), later + 1000)).toEqual([]);
  expect(existsSync(frozenTreePath(store, hash))).toBe(true);
  expect(await pruneTrees(store, new Set(), later + 2 * HOUR)).toEqual([hash]);
});

test("a tree that a killed service was removing comes back if it was frozen again", async () => {
  const { hash } = await freeze();
  renameSync(frozenTreePath(store, hash), path.join(store.drafts, `removed-${hash}`));
  await pruneTrees(store, new Set(), Date.now());
  expect((await scanTree(frozenTreePath(store, hash), ["."])).hash).toBe(hash);
});

test("drafts of killed processes are removed after a day", async () => {
  mkdirSync(path.join(store.drafts, "abc"));
  await pruneTrees(store, new Set(), Date.now());
  expect(readdirSync(store.drafts)).toEqual(["abc"]);
  await pruneTrees(store, new Set(), Date.now() + 25 * HOUR);
  expect(readdirSync(store.drafts)).toEqual([]);
});

test("directories can be frozen while everything old is removed all the time", async () => {
  const { hash } = await freeze();
  const later = Date.now() + 2 * HOUR;
  let isOver = false;
  const pruning = (async () => {
    while (!isOver) {
      await pruneTrees(store, new Set([hash]), later);
      // Pruning nothing waits for nothing.
      await setImmediate();
    }
  })();
  try {
    for (let n = 0; n < 15; n++) {
      write("round.txt", `${n}\n`);
      const frozen = await freeze({ now: later });
      expect((await scanTree(frozenTreePath(store, frozen.hash), ["."])).hash).toBe(frozen.hash);
    }
  } finally {
    isOver = true;
    await pruning;
  }
  expect((await scanTree(frozenTreePath(store, hash), ["."])).hash).toBe(hash);
});

test("times of files survive", async () => {
  utimesSync(path.join(work, "train.py"), 1_000_000, 1_000_000);
  rmSync(path.join(work, "lib/same.py"));
  const { hash } = await freeze();
  expect(statSync(path.join(frozenTreePath(store, hash), "train.py")).mtimeMs).toBe(1_000_000_000);
});
