// docs/slot.md names every file of a spool. Compares the page with a real spool while a batch uses it, and with the
// names in the scripts.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RuntimeFile, runtimeFile, SPOOL_SCRIPTS } from "../../../src/remote/runtime-files.js";
import { Control } from "../../../src/remote/spool/control.js";
import { handOver } from "../../../src/remote/spool/hand-over.js";
import { stage } from "../../../src/remote/tree/stage.js";
import { scanTree } from "../../../src/remote/tree/tree.js";
import { until } from "../../rig/until.js";
import { anOrder, type LocalMachine, makeLocalMachine, never } from "./a-local-machine.js";

const CHANGES = "0000001-1";
const PRINTS = "0000002-1";
const TAKES_LONG = "0000003-1";
const OTHER_KIND = "0000004-1";
const IS_STOPPED = "0000005-1";
const NEVER_BEGINS = "0000006-1";
const IS_TAKEN_BACK = "0000007-1";

/** Files that a run does not always show: they exist only for a moment, or only after a fault. */
const RARE = [
  "jobs.lock.new.<pid>",
  "jobs.lock.held",
  "incoming.<pid>/",
  "removing/",
  "scout",
  "slots/<n>/peak",
  "slots/<n>/scope",
  "jobs/<key>/named",
  "slots/<n>/aside.<key>",
  "jobs/<key>/making/",
  "jobs/<key>/out.cut",
  "jobs/<key>/err.cut",
  "jobs/<key>/unfreed",
  "jobs/<key>/aside/",
];

/** Only slots of format 2 have it. */
const OLDER = ["slots/<n>/room"];

interface Row {
  readonly name: string;
  readonly pattern: RegExp;
}

let rows: Row[];
let machine: LocalMachine;
beforeEach(async () => {
  rows = readPage(await readFile(new URL("../../../docs/slot.md", import.meta.url), "utf8"));
  machine = await makeLocalMachine();
});
afterEach(() => machine.close());

/** The names in the first column of the tables, each below the directory of its heading. */
function readPage(page: string): Row[] {
  const tables = page.split("\n### ").slice(1);
  return tables.flatMap((table) => {
    const directory = /^In a .*?: `((?:slots|jobs)\/<\w+>\/)`/.exec(table)?.[1] ?? "";
    const cells = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => cell.split(", "));
    return cells.map((cell) => toRow(`${directory}${cell.replaceAll("`", "")}`));
  });
}

/** A directory includes everything in it, except slots/ and jobs/, which have their own tables. */
function toRow(name: string): Row {
  const isTable = name === "slots/" || name === "jobs/";
  const text = name.replaceAll(/[.]/g, "\\.").replaceAll(/<\w+>/g, "[^/]+");
  const end = isTable ? "([^/]+/)?" : text.endsWith("/") ? ".*" : "";
  return { name, pattern: new RegExp(`^${text}${end}$`) };
}

async function list(): Promise<string[]> {
  const root = machine.path(machine.spool);
  const entries = await readdir(root, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.map((entry) => {
    const path = join(entry.parentPath, entry.name).slice(root.length + 1);
    return entry.isDirectory() ? `${path}/` : path;
  });
}

test("a batch with jobs of all kinds leaves no file in a spool that the page does not name", async () => {
  const seen = new Set<string>();
  const watching = new AbortController();
  const watched = until("the batch is done", async () => {
    for (const path of await list()) seen.add(path);
    return watching.signal.aborted;
  });
  await runBatch();
  watching.abort();
  await watched;
  expect([...seen].filter((path) => !rows.some(({ pattern }) => pattern.test(path)))).toEqual([]);
  const unseen = rows.filter(({ pattern }) => ![...seen].some((path) => pattern.test(path)));
  expect(RARE).toEqual(expect.arrayContaining(unseen.map(({ name }) => name)));
});

async function runBatch(): Promise<void> {
  for (let file = 0; file <= 100; file++) await machine.write(`tree/file-${file}`, "1");
  const tree = await scanTree(machine.path("tree"), ["."]);
  await stage(machine.session, { place: machine.place, tree, signal: never, onProgress: () => {} });
  const waits = `until [ -e ${machine.path("go")} ]; do sleep 0.02; done`;
  const order = anOrder(machine, {
    [CHANGES]: "echo 2 >file-1",
    [PRINTS]: "echo said; echo wrong >&2",
    [TAKES_LONG]: "sleep 600",
    [OTHER_KIND]: waits,
    [IS_STOPPED]: "sleep 600",
    [NEVER_BEGINS]: "true",
    [IS_TAKEN_BACK]: "true",
  });
  const jobs = order.jobs.map((job) => ({
    ...job,
    ...(job.key === TAKES_LONG && { timeoutSeconds: 1, names: ["gpu"] }),
    ...(job.key === OTHER_KIND && { kind: "big" }),
    ...(job.key === PRINTS && {
      layers: [],
      needsOwnShell: true,
      maxOutput: { bytes: 1000, text: "1kB" },
      memoryLimitMb: 100,
    }),
  }));
  const needs = new Map([...order.needs, ["big", "need big 2 1000 0\n"]]);
  await handOver(machine.session, { ...order, tree, jobs, needs, slots: 2 });
  const control = await Control.open(machine.session, machine.place);
  await control.hold("a client");
  await machine.untilEvent(`started ${IS_STOPPED}`);
  for (const stream of ["out", "err"] as const)
    await control.readOutput([{ key: PRINTS, stream, offset: 0 }], async () => {});
  await control.takeBack([IS_TAKEN_BACK]);
  await control.stop([NEVER_BEGINS, IS_STOPPED]);
  await machine.untilEvent(`ended ${IS_STOPPED}`);
  await control.drain();
  await machine.write("go", "");
  await machine.untilEvent(`ended ${OTHER_KIND}`);
  await control.noteKept([TAKES_LONG]);
  await control.free([PRINTS]);
  for (const slot of ["0", "1"]) await machine.untilEvent(`idle ${slot}`);
  control.close();
}

test("every name that the scripts use for a file of a slot or a job is on the page", () => {
  const names = (files: readonly RuntimeFile[], pattern: RegExp) =>
    [...files.map(runtimeFile).join("\n").matchAll(pattern)].map(([, name = ""]) => name);
  const ofSlots = names(
    [...SPOOL_SCRIPTS, "control.sh"],
    /(?:\$mine|\$place|slots\/\$\w+|\$sshoal_slot)\/([a-z-]+)/g,
  );
  const ofJobs = names(["slot.sh", "control.sh"], /(?:\$dir|jobs\/\$\w+)\/([a-z-]+)/g);
  const used = new Set([
    ...ofSlots.map((name) => `slots/<n>/${name}`),
    ...ofJobs.map((name) => `jobs/<key>/${name}`),
  ]);
  const named = rows.map(({ name }) => name.replace(/[/]$|[.]<key>$/, ""));
  expect([...used].filter((name) => ![...named, ...OLDER].includes(name))).toEqual([]);
  expect(used.size).toBeGreaterThan(25);
});
