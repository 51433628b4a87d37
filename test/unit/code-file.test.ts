import { execFileSync } from "node:child_process";
import { chmod, chown, readdir, readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CodeFile } from "../../src/code-file.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let cache: Workspace;
let kept: CodeFile;
beforeEach(async () => {
  cache = await makeWorkspace();
  kept = new CodeFile(cache.path("code"), "build1");
});
afterEach(() => cache.remove());

const CODE = Buffer.from("what V8 made of it");

async function saved(): Promise<string> {
  kept.save({ code: CODE, extent: 7 });
  const [name = ""] = await readdir(cache.path("code"));
  return cache.path("code", name);
}

test("stored code is loaded by the same build only", async () => {
  expect(kept.load()).toBeNull();
  await saved();
  expect(kept.load()).toEqual({ code: CODE, extent: 7 });
  expect(new CodeFile(cache.path("code"), "build2").load()).toBeNull();
});

test("an incomplete file is not used", async () => {
  const file = await saved();
  const bytes = await readFile(file);
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    await writeFile(file, changed);
    expect(kept.load()).toBeNull();
    await writeFile(file, bytes.subarray(0, at));
    expect(kept.load()).toBeNull();
  }
  await writeFile(file, bytes);
  expect(kept.load()).not.toBeNull();
});

test("a file that other accounts can write is not used", async () => {
  const file = await saved();
  await chmod(file, 0o620);
  expect(kept.load()).toBeNull();
  await chmod(file, 0o602);
  expect(kept.load()).toBeNull();
});

test.runIf(process.getuid?.() === 0)("a file of another account is not used", async () => {
  await chown(await saved(), 12345, 12345);
  expect(kept.load()).toBeNull();
});

test("a directory that other accounts can write or replace is neither read nor written", async () => {
  const file = await saved();
  await chmod(cache.path("code"), 0o770);
  expect(kept.load()).toBeNull();
  await rm(file);
  kept.save({ code: CODE, extent: 7 });
  expect(await readdir(cache.path("code"))).toEqual([]);
  await chmod(cache.path("code"), 0o700);
  await saved();
  expect(kept.load()).not.toBeNull();
  await chmod(cache.dir, 0o777);
  expect(kept.load()).toBeNull();
  await chmod(cache.dir, 0o1777);
  expect(kept.load()).not.toBeNull();
});

test("a link to a file of ours, or a pipe, is not used", async () => {
  const file = await saved();
  await rename(file, cache.path("elsewhere"));
  await symlink(cache.path("elsewhere"), file);
  expect(kept.load()).toBeNull();
  await rm(file);
  execFileSync("mkfifo", ["-m", "600", file]);
  expect(kept.load()).toBeNull();
});

test.runIf(process.getuid?.() === 0)("a directory of another account is not used", async () => {
  await saved();
  await chown(cache.path("code"), 12345, 12345);
  expect(kept.load()).toBeNull();
});

test("if the directory is not writable, nothing is stored and no error is shown", async () => {
  const file = await cache.write("a-file", "");
  const nowhere = new CodeFile(`${file}/code`, "build1");
  nowhere.save({ code: CODE, extent: 7 });
  expect(nowhere.load()).toBeNull();
});

test("a file that no build has used for a month is removed", async () => {
  await cache.write("code/another", "");
  const old = await cache.write("code/old", "");
  await utimes(old, 1000, 1000);
  await saved();
  expect(await readdir(cache.path("code"))).toEqual([expect.stringMatching(/^another$/), expect.any(String)]);
});
