import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, expect, test } from "vitest";
import { fillOutFile, reserveOutFiles } from "../../../../src/service/jobs/out-file.js";
import { aDir } from "../a-record.js";

let dir: string;
let printed: string;
let out: string;
beforeEach(() => {
  dir = aDir();
  printed = path.join(dir, "printed");
  out = path.join(dir, "logs/out");
  writeFileSync(printed, "what the job printed\n");
});

test("the file is made for this account when the job is added, and gets what the job printed", async () => {
  reserveOutFiles([out]);
  expect([readFileSync(out, "utf8"), statSync(out).mode & 0o777]).toEqual(["", 0o600]);
  // A service that was killed meanwhile fills it again.
  writeFileSync(out, "a longer text of the first time, which was cut off\n");
  await fillOutFile(printed, out);
  expect(readFileSync(out, "utf8")).toBe("what the job printed\n");
});

test("of two jobs with one file, the second is refused, and files of its request are gone", () => {
  reserveOutFiles([out]);
  const other = path.join(dir, "other");
  expect(() => reserveOutFiles([other, out])).toThrow("the file exists already");
  expect(() => lstatSync(other)).toThrow("ENOENT");
});

test("a dangling link is a file that exists", () => {
  symlinkSync(path.join(dir, "nowhere"), path.join(dir, "link"));
  expect(() => reserveOutFiles([path.join(dir, "link")])).toThrow("the file exists already");
});

test("a link that was put in its place is not followed", async () => {
  reserveOutFiles([out]);
  const precious = path.join(dir, "precious");
  writeFileSync(precious, "precious\n");
  rmSync(out);
  symlinkSync(precious, out);
  await expect(fillOutFile(printed, out)).rejects.toThrow("it is a link now");
  expect(readFileSync(precious, "utf8")).toBe("precious\n");
});

test("a pipe or a directory in its place is an error, and nothing waits for a reader", async () => {
  reserveOutFiles([out]);
  rmSync(out);
  execFileSync("mkfifo", [out]);
  await expect(fillOutFile(printed, out)).rejects.toThrow("it is no file any more");
  rmSync(out);
  mkdirSync(out);
  await expect(fillOutFile(printed, out)).rejects.toThrow("it is no file any more");
});
