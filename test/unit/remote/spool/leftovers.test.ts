// Runs the removal on a home made by hand: what it must not touch matters more than what it removes.

import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdir, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findLeftOver, parseLeftOver, removeLeftOver } from "../../../../src/remote/spool/leftovers.js";
import { readLog } from "../../../../src/remote/spool/read-log.js";
import { connectLocal } from "../../../../src/transport/local.js";
import type { Session } from "../../../../src/transport/session.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";
import { HOST, liveLine } from "../a-spool.js";

const { signal } = new AbortController();
const HASH = "a".repeat(40);
const OTHER_HASH = "b".repeat(40);
const DONE = "done.sh-00000001";
const HELD = "held.sh-00000002";

let home: Workspace;
let session: Session;

beforeEach(async () => {
  home = await makeWorkspace();
  session = await connectLocal({ homeDir: home.dir });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await session.close();
  await home.remove();
});

/** `files`: path below the spool to text. */
async function aSpool(batch: string, files: Record<string, string> = {}, root = ".sshoal"): Promise<string> {
  const dir = `${root}/batches/${batch}@${HOST}`;
  await mkdir(home.path(dir, "jobs"), { recursive: true });
  for (const [path, text] of Object.entries(files)) await home.write(`${dir}/${path}`, text);
  return home.path(dir);
}

async function aTree(name: string, ageSeconds: number, root = ".sshoal"): Promise<string> {
  await home.write(`${root}/trees/${name}/data.txt`, "some data\n");
  const dir = home.path(root, "trees", name);
  const when = Date.now() / 1000 - ageSeconds;
  await utimes(dir, when, when);
  return dir;
}

function remove(
  batches: { name: string; isForced: boolean }[],
  trees: { name: string; minAgeSeconds: number }[] = [],
  scratch: string | null = null,
) {
  return removeLeftOver(session, { scratch, batches, trees }, signal).then((map) => Object.fromEntries(map));
}

const job = (key: string, files: Record<string, string>) =>
  Object.fromEntries(
    Object.entries({ command: "true\n", ...files }).map(([name, text]) => [`jobs/${key}/${name}`, text]),
  );

test("nothing is found if there never was anything", async () => {
  expect(await findLeftOver(session, null, signal)).toEqual({ batches: [], trees: [] });
  expect(await findLeftOver(session, home.path("no such scratch"), signal)).toEqual({
    batches: [],
    trees: [],
  });
  expect(await remove([{ name: DONE, isForced: true }])).toEqual({});
  expect(existsSync(home.path(".sshoal"))).toBe(false);
});

test("lists what each batch has, and which trees it uses", async () => {
  const dead = "1 1 0";
  await aSpool(DONE, { trees: `${HASH}\n\n${HASH}\n` });
  await aSpool(HELD, {
    trees: `${OTHER_HASH}\n`,
    ...job("0000001-1", { claim: "slot 0\n", exit: "0\n" }),
    ...job("0000002-1", { claim: "slot 0\n" }),
    "slots/0/job": liveLine(process.pid).replace("\n", " 0000002-1\n"),
    "slots/1/job": `${dead} 0000005-1\n`,
    ...job("0000003-1", {}),
    ...job("0000004-1", {}),
    // The machine went down with it; a client took it back.
    ...job("0000005-1", { claim: "slot 1\n" }),
    ...job("0000006-1", { claim: "client\n" }),
  });
  await aTree(HASH, 5000);
  const { batches, trees } = await findLeftOver(session, null, signal);
  expect(batches).toEqual([
    { name: DONE, bytes: expect.any(Number), isAlive: false, running: 0, waiting: 0, toCollect: 0, kept: [] },
    { name: HELD, bytes: expect.any(Number), isAlive: true, running: 1, waiting: 2, toCollect: 2, kept: [] },
  ]);
  expect(batches[1]?.bytes).toBeGreaterThan(0);
  expect(trees).toEqual([
    { name: HASH, bytes: expect.any(Number), ageSeconds: expect.any(Number), usedBy: [DONE] },
  ]);
  expect(trees[0]?.ageSeconds).toBeGreaterThanOrEqual(5000);
});

test.each<[string, Record<string, string>, boolean]>([
  ["a slot", { "slots/0/loop": liveLine(process.pid) }, true],
  ["a client that hands over", { [`incoming.${process.pid}/x`]: "" }, true],
  ["a slot of an earlier boot", { "slots/0/loop": `${process.pid} 1 another-boot\n` }, false],
])("whether %s counts as active", async (_, files, isAlive) => {
  const dir = await aSpool(DONE, files);
  const { batches } = await findLeftOver(session, null, signal);
  expect(batches).toMatchObject([{ isAlive }]);
  expect(await remove([{ name: DONE, isForced: true }])).toEqual({
    [`batch ${DONE}`]: isAlive ? "kept" : "removed",
  });
  expect(existsSync(dir)).toBe(isAlive);
});

test("a connected client keeps a batch alive, even without jobs", async () => {
  const dir = await aSpool(DONE);
  const client = await session.exec(`cd '${dir}' && echo here && read -r _`);
  await new Promise((resolve) => client.stdout.once("data", resolve));
  expect(await remove([{ name: DONE, isForced: true }])).toEqual({ [`batch ${DONE}`]: "kept" });
  client.stdin.end();
  client.stderr.resume();
  client.stdout.resume();
  await client.ended;
  expect(await remove([{ name: DONE, isForced: false }])).toEqual({ [`batch ${DONE}`]: "removed" });
});

test("uncollected results are removed only on request, and trees with the last batch that uses them", async () => {
  const dir = await aSpool(HELD, { trees: `${HASH}\n`, ...job("0000001-1", { exit: "0\n" }) });
  const tree = await aTree(HASH, 5000);
  await chmod(join(tree, "data.txt"), 0o400);
  await chmod(tree, 0o500);
  const trees = [{ name: HASH, minAgeSeconds: 600 }];
  expect(await remove([{ name: HELD, isForced: false }], trees)).toEqual({
    [`batch ${HELD}`]: "kept",
    [`tree ${HASH}`]: "kept",
  });
  expect(existsSync(dir)).toBe(true);
  expect(await remove([{ name: HELD, isForced: true }], trees)).toEqual({
    [`batch ${HELD}`]: "removed",
    [`tree ${HASH}`]: "removed",
  });
  expect(await findLeftOver(session, null, signal)).toEqual({ batches: [], trees: [] });
});

test("a tree that was just staged stays, and so does one that is arriving", async () => {
  const half = `incoming.${process.pid}`;
  await mkdir(home.path(".sshoal/batches"), { recursive: true });
  const dirs = [await aTree(HASH, 5), await aTree(half, 5000), await aTree("incoming.4194999", 5000)];
  const trees = [HASH, half, "incoming.4194999"].map((name) => ({ name, minAgeSeconds: 600 }));
  expect(await remove([], trees)).toEqual({
    [`tree ${HASH}`]: "kept",
    [`tree ${half}`]: "kept",
    "tree incoming.4194999": "removed",
  });
  expect(dirs.map((dir) => existsSync(dir))).toEqual([true, true, false]);
});

test("batches below scratch directories are found by their links, and removed with them", async () => {
  const scratch = "big disk/.sshoal";
  const dir = await aSpool(DONE, { trees: `${HASH}\n` }, scratch);
  await aTree(HASH, 5000, scratch);
  const link = home.path(`.sshoal/batches/${DONE}@${HOST}`);
  await mkdir(home.path(".sshoal/batches"), { recursive: true });
  await symlink(dir, link);
  for (const known of [null, home.path("big disk"), "~/big disk"]) {
    const { batches, trees } = await findLeftOver(session, known, signal);
    expect(batches.map(({ name }) => name)).toEqual([DONE]);
    expect(trees).toMatchObject([{ name: HASH, usedBy: [DONE] }]);
  }
  expect(await remove([{ name: DONE, isForced: false }], [{ name: HASH, minAgeSeconds: 600 }])).toEqual({
    [`batch ${DONE}`]: "removed",
    [`tree ${HASH}`]: "removed",
  });
  expect(existsSync(dir)).toBe(false);
  await expect(symlink(home.dir, link)).resolves.toBe(undefined); // its place is free
});

test("links that lead elsewhere, other machines' batches and foreign names are not touched", async () => {
  const precious = await home.write("precious/file", "");
  await mkdir(home.path(".sshoal/batches"), { recursive: true });
  await symlink(home.path("precious"), home.path(`.sshoal/batches/${DONE}@${HOST}`));
  await symlink(home.path("precious"), home.path(`.sshoal/batches/${HELD}@another-host`));
  await mkdir(home.path(".sshoal/batches/elsewhere.sh-00000003@another-host"));
  await home.write(".sshoal/batches/elsewhere.sh-00000003@another-host/trees", `${HASH}\n`);
  await mkdir(home.path(`.sshoal/batches/$(touch owned)-00000004@${HOST}`));
  await mkdir(home.path(`.sshoal/batches/x\nbatch 1 0 0 0 0 evil-00000005@${HOST}`));
  await mkdir(home.path(".sshoal/trees/not a tree"), { recursive: true });
  await aTree(HASH, 5000);
  expect(await findLeftOver(session, null, signal)).toMatchObject({
    batches: [],
    trees: [{ name: HASH, usedBy: [null] }],
  });
  const everything = [DONE, HELD, "elsewhere.sh-00000003", "evil-00000005"];
  expect(
    await remove(
      everything.map((name) => ({ name, isForced: true })),
      [{ name: HASH, minAgeSeconds: 0 }],
    ),
  ).toEqual({ [`tree ${HASH}`]: "kept" });
  expect(existsSync(precious)).toBe(true);
  expect(existsSync(home.path("owned"))).toBe(false);
});

test.each(["../../etc", "a b-00000001", "$(id)-00000001", "", "x"])(
  "%j is refused before a shell sees it",
  async (name) => {
    await expect(remove([{ name, isForced: true }])).rejects.toThrow("no batch is called");
    await expect(remove([], [{ name, minAgeSeconds: 0 }])).rejects.toThrow("no tree is called");
  },
);

test("the rest of an interrupted removal is removed with the next one", async () => {
  await home.write(".sshoal/removing.4194999/data.txt", "");
  await home.write(`.sshoal/removing.${process.pid}/data.txt`, "");
  expect(await remove([])).toEqual({});
  expect(existsSync(home.path(".sshoal/removing.4194999"))).toBe(false);
  expect(existsSync(home.path(`.sshoal/removing.${process.pid}`))).toBe(true);
});

test("also if that process had our pid", async () => {
  const left = '"$HOME/.sshoal/removing.$$"';
  const prepared: Session = {
    ...session,
    exec: (script) => session.exec(`mkdir -p ${left}; touch ${left}/data.txt\n${script}`),
  };
  const dir = await aSpool(DONE);
  const removal = { scratch: null, batches: [{ name: DONE, isForced: false }], trees: [] };
  expect(Object.fromEntries(await removeLeftOver(prepared, removal, signal))).toEqual({
    [`batch ${DONE}`]: "removed",
  });
  expect(existsSync(dir)).toBe(false);
  expect(readdirSync(home.path(".sshoal")).filter((name) => name.startsWith("removing"))).toEqual([]);
});

test("a partly removed batch has no job that a slot could begin again", async () => {
  const ended = job("0000001-1", { claim: "slot 0\n", exit: "0\n" });
  const dir = await aSpool(HELD, { "slot.sh": "", ...ended });
  await home.write("bin/rm", '#!/bin/sh\nfind "$2" -path "*-*/claim" -exec /bin/rm {} +\nexit 1\n');
  vi.stubEnv("PATH", `${home.path("bin")}:${process.env.PATH}`);
  expect(await remove([{ name: HELD, isForced: true }])).toEqual({ [`batch ${HELD}`]: { stuckAt: dir } });
  expect(existsSync(join(dir, "slot.sh"))).toBe(true);
  expect(existsSync(join(dir, "jobs"))).toBe(false);
});

test("lines that a machine should not print are ignored", () => {
  const lines = ["batch 1 0 0 0 0 ../x-00000001", "batch 1 2 0 0 0 a-00000001", "tree 1 1 ..", "uses", ""];
  expect(parseLeftOver(lines)).toEqual({ batches: [], trees: [] });
});

test("an event log is read whole, even if a full disk left its last line incomplete", async () => {
  const place = { batch: DONE, scratch: null };
  expect(await readLog(session, place, signal)).toBe(null);
  await aSpool(DONE, { events: "started 0000001-1 0\nnonsense\nended 0000001-1 0 3 20\nstart" });
  expect(await readLog(session, place, signal)).toEqual([
    { kind: "started", key: "0000001-1", slot: 0, startedAt: null, facts: new Map() },
    {
      kind: "ended",
      key: "0000001-1",
      slot: 0,
      outcome: { kind: "exited", code: 3 },
      durationMs: 20,
      facts: new Map(),
    },
  ]);
});

test("directories that are kept for a next attempt are listed, and removed only by force", async () => {
  const command = "#tree - 0 0 1\n. begin\nexport SSHOAL_JOB='train.sh.3'\ntrue\n";
  const kept = { command, exit: "1\n", claim: "slot 0\n", collected: "", "work/checkpoint": "7" };
  await aSpool(DONE, {
    trees: "",
    ...job("0000003-1", kept),
    // Its files are with a later attempt.
    ...job("0000003-0", { exit: "1\n", collected: "" }),
  });
  const { batches } = await findLeftOver(session, null, signal);
  expect(batches).toMatchObject([{ name: DONE, toCollect: 0, kept: ["train.sh.3"] }]);
  expect(await remove([{ name: DONE, isForced: false }])).toEqual({ [`batch ${DONE}`]: "kept" });
  expect(await remove([{ name: DONE, isForced: true }])).toEqual({ [`batch ${DONE}`]: "removed" });
});
