import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  knownDirectories,
  rememberDirectory,
  rememberIfUsed,
} from "../../../../src/batch/find/known-directories.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let place: { stateDir: string; computer: string };

beforeEach(async () => {
  work = await makeWorkspace();
  place = { stateDir: work.path("state/sshoal"), computer: "here" };
});
afterEach(() => work.remove());

const entries = () => work.path("state/sshoal/directories@here");

function makeDir(name: string): string {
  const dir = work.path(name);
  mkdirSync(join(dir, "job_results/.sshoal"), { recursive: true });
  return dir;
}

/** As if the directory had been used at that second. */
function useAt(dir: string, seconds: number): void {
  const before = new Set(readdirSync(entries()));
  rememberDirectory(place, dir);
  for (const name of readdirSync(entries()))
    if (!before.has(name)) utimesSync(join(entries(), name), seconds, seconds);
}

test("the last used comes first; files and directories are private", () => {
  const [a, b, c] = ["a", "b c\nd", "é"].map(makeDir) as [string, string, string];
  rememberDirectory(place, a);
  useAt(b, 1000);
  useAt(c, 2000);
  expect(knownDirectories(place)).toEqual([a, c, b]);
  rememberDirectory(place, b);
  expect(knownDirectories(place)[0]).toBe(b);
  expect(readdirSync(entries())).toHaveLength(3);
  expect(statSync(entries()).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(entries())) expect(statSync(join(entries(), name)).mode & 0o777).toBe(0o600);
});

test("a directory whose records are gone is forgotten", () => {
  const [a, b] = [makeDir("a"), makeDir("b")];
  for (const dir of [a, b]) rememberDirectory(place, dir);
  rmSync(join(a, "job_results"), { recursive: true });
  expect(knownDirectories(place)).toEqual([b]);
  expect(readdirSync(entries())).toHaveLength(1);
});

test("a directory is remembered only where batches were run", () => {
  mkdirSync(work.path("empty"));
  rememberIfUsed(place, work.path("empty"));
  expect(knownDirectories(place)).toEqual([]);
  rememberIfUsed(place, makeDir("used"));
  expect(knownDirectories(place)).toEqual([work.path("used")]);
});

test("what another program put there, or a crash tore, is no directory", () => {
  const dir = makeDir("a");
  rememberDirectory(place, dir);
  const [name = ""] = readdirSync(entries());
  writeFileSync(join(entries(), "f".repeat(32)), dir);
  writeFileSync(join(entries(), "e".repeat(32)), "");
  writeFileSync(join(entries(), `${name}.new`), "/half");
  writeFileSync(join(entries(), "notes"), "/etc");
  expect(knownDirectories(place)).toEqual([dir]);
  expect(readdirSync(entries()).sort()).toEqual([name, `${name}.new`, "notes"].sort());
});

test("more than a thousand are not kept", () => {
  mkdirSync(entries(), { recursive: true });
  for (let index = 0; index < 1005; index++)
    writeFileSync(join(entries(), String(index).padStart(32, "0")), "");
  const dir = makeDir("a");
  rememberDirectory(place, dir);
  expect(knownDirectories(place)).toEqual([dir]);
  expect(readdirSync(entries())).toHaveLength(1);
});

test("computers that share a home have lists of their own", () => {
  const dir = makeDir("a");
  rememberDirectory({ ...place, computer: "there" }, dir);
  expect(knownDirectories(place)).toEqual([]);
});

test("a place that cannot be written, or that is none, stops nothing", () => {
  const dir = makeDir("a");
  rememberDirectory({ stateDir: null, computer: "here" }, dir);
  expect(knownDirectories({ stateDir: null, computer: "here" })).toEqual([]);
  writeFileSync(work.path("file"), "");
  chmodSync(work.path("file"), 0o400);
  const blocked = { stateDir: work.path("file/sshoal"), computer: "here" };
  rememberDirectory(blocked, dir);
  expect(knownDirectories(blocked)).toEqual([]);
});

test("a directory with records that other accounts can write is not remembered", () => {
  const dir = makeDir("a");
  chmodSync(join(dir, "job_results/.sshoal"), 0o777);
  rememberIfUsed(place, dir);
  expect(knownDirectories(place)).toEqual([]);
});
