import { chmodSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirs } from "../../../../src/run/home/make-dirs.js";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(path.join(tmpdir(), "sshoal-dirs-")));
});
afterEach(() => {
  chmodSync(dir, 0o700);
  rmSync(dir, { recursive: true });
});

test("missing directories are made with their mode, and the first of them is returned", () => {
  expect(makeDirs(path.join(dir, "a/b/c"), 0o700)).toBe(path.join(dir, "a"));
  expect(statSync(path.join(dir, "a/b/c")).mode & 0o777).toBe(0o700);
  expect(makeDirs(path.join(dir, "a/b/c"))).toBeUndefined();
});

test("a link to a directory is one, and a file on the way is an error", () => {
  symlinkSync(dir, path.join(dir, "link"));
  expect(makeDirs(path.join(dir, "link/x"))).toBe(path.join(dir, "link/x"));
  writeFileSync(path.join(dir, "file"), "");
  expect(() => makeDirs(path.join(dir, "file/x"))).toThrow(/ENOTDIR|EEXIST/);
});

test.runIf(process.platform === "linux")(
  "a file system that answers that the directory above is missing is an error, instead of a loop without end",
  () => {
    expect(() => makeDirs("/proc/self/sshoal/deep")).toThrow("ENOENT");
  },
);
