// The compiled code that a command leaves for the next one.

import { createHash } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type CommandOptions, runCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import type { Workspace } from "../rig/workspace.js";

vi.setConfig({ testTimeout: 60_000 });

let home: Workspace;
beforeEach(async () => {
  home = await makeHome({ "work/jobs.sh": "echo hi\n" });
});
afterEach(() => home?.remove());

const BATCH = ["run", "jobs.sh", "--no-gpu-required", "--memory-required", "10", "--copy-forward", "jobs.sh"];

async function sshoal(args: readonly string[], env: CommandOptions["env"] = {}) {
  return runCommand(args, { program: "sshoal", cwd: home.path("work"), home: home.dir, env });
}

async function keptFiles(): Promise<string[]> {
  const dir = home.path(".cache", "sshoal", "code");
  return (await readdir(dir).catch(() => [])).map((name) => `${dir}/${name}`);
}

async function keptFile(): Promise<string> {
  const files = await keptFiles();
  expect(files).toHaveLength(1);
  return files[0] ?? "";
}

test("code is stored by the first command, and again by one that gets further", async () => {
  await sshoal(["--version"]);
  const little = await stat(await keptFile());
  await sshoal(BATCH);
  const more = await stat(await keptFile());
  expect(more.ino).not.toBe(little.ino);
  expect(more.size).toBeGreaterThan(little.size);
  for (const args of [["--version"], BATCH]) {
    expect(await sshoal(args)).toMatchObject({ code: 0, stderr: "" });
    expect((await stat(await keptFile())).ino).toBe(more.ino);
  }
});

test("code that is damaged, or not V8's, is made again", async () => {
  const { stdout } = await sshoal(["--version"]);
  const file = await keptFile();
  const whole = await readFile(file);
  const junk = Buffer.alloc(whole.length - 32, 1);
  const hashed = Buffer.concat([createHash("sha256").update(junk).digest(), junk]);
  const damaged = Buffer.from(whole).fill(0, whole.length / 2);
  for (const bytes of [hashed, damaged]) {
    await writeFile(file, bytes);
    expect(await sshoal(["--version"])).toMatchObject({ code: 0, stdout, stderr: "" });
    const again = await readFile(await keptFile());
    expect(again.equals(bytes)).toBe(false);
  }
});

test("nothing is stored for a command that fails, nor if the cache is disabled", async () => {
  await sshoal(["run", "no-such-file"]);
  await sshoal(["--version"], { NODE_DISABLE_COMPILE_CACHE: "1" });
  expect(await keptFiles()).toEqual([]);
});
