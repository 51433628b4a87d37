// `npm install -g .` in a fresh clone, with the packages that `npm ci` has left in npm's cache.

import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeWorkspace } from "../rig/workspace.js";

const CLONE = fileURLToPath(new URL("../..", import.meta.url));
const NEEDED = ["package.json", "package-lock.json", "prepare.mjs", "build.mjs", "tsconfig.json", "src"];

test("npm install -g . in a fresh clone puts the commands on the PATH", async ({ skip, onTestFinished }) => {
  const [clone, prefix] = await Promise.all([makeWorkspace(), makeWorkspace()]);
  onTestFinished(() => Promise.all([clone.remove(), prefix.remove()]).then(() => {}));
  for (const name of NEEDED) cpSync(`${CLONE}/${name}`, clone.path(name), { recursive: true });
  const words = ["install", "-g", ".", "--offline", "--ignore-scripts=false", "--prefix", prefix.dir];
  const { status, stderr } = spawnSync("npm", words, { cwd: clone.dir, encoding: "utf8" });
  if (/ENOTCACHED/.test(stderr)) {
    console.warn("SKIPPED: npm install -g ., since npm's cache has not all packages: npm ci fills it");
    skip();
  }
  expect(status, stderr).toBe(0);
  for (const command of [
    "execute_batch",
    "execute_remote",
    "grass",
    "sshoal",
    "simple_gpu_scheduler",
    "simple_hypersearch",
  ]) {
    const { stdout } = spawnSync(prefix.path("bin", command), ["--version"], { encoding: "utf8" });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  }
});
