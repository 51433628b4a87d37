// Packs this clone, installs the package in an empty directory with its own HOME, and runs its commands there. Only the
// package may be needed: npm is offline, and runs no scripts.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { bin, man, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const COMPLETION = ["sshoal.bash", "_sshoal", "sshoal.fish"];
const LIGHT = ["--no-gpu-required", "--memory-required", "10"];

const place = mkdtempSync(join(tmpdir(), "sshoal-release-"));
try {
  const tarball = pack();
  checkContents(tarball);
  install(tarball);
  tryVersion();
  tryManPages();
  tryCompletion();
  tryBatch();
  trySweep();
  console.log(`sshoal ${version}: packed, installed and tried`);
} finally {
  rmSync(place, { recursive: true, force: true });
}

function pack() {
  const args = ["pack", "--silent", "--pack-destination", place];
  const lines = execFileSync("npm", args, { cwd: root, encoding: "utf8" }).trim().split("\n");
  return join(place, lines.at(-1));
}

function checkContents(tarball) {
  const files = run(".", "tar", "-tzf", tarball).map((file) => file.replace(/^package\//, ""));
  const texts = ["README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "dist/THIRD-PARTY.txt"];
  const samples = ["docs/README.md", "docs/live-view.svg", "machines/full.yaml", "example/batch_script.sh"];
  const parts = ["dist/main.js", "dist/runtime/slot.sh"];
  const scripts = COMPLETION.map((name) => `dist/completion/${name}`);
  for (const needed of [...texts, ...samples, ...parts, ...Object.values(bin), ...man, ...scripts]) {
    assert(files.includes(needed), `the package has no ${needed}`);
  }
  const known =
    /^(dist|docs|machines|example)\/|^((README|CHANGELOG|CONTRIBUTING)\.md|LICENSE|package\.json)$/;
  const besides = files.filter((file) => !known.test(file));
  assert.deepEqual(besides, [], "the package has more than it should");
}

function install(tarball) {
  run(".", "npm", "install", "--global", "--offline", "--ignore-scripts", "--prefix", place, tarball);
  assert.deepEqual(readdirSync(join(place, "lib", "node_modules")), ["sshoal"]);
  assert.equal(readdirSync(join(place, "lib", "node_modules", "sshoal")).includes("node_modules"), false);
}

function tryVersion() {
  assert.deepEqual(run(".", "sshoal", "--version"), [version]);
}

/** npm puts them where man looks for the pages of a program on the PATH. */
function tryManPages() {
  const installed = readdirSync(join(place, "share", "man", "man1"));
  assert.deepEqual(installed.sort(), man.map((path) => basename(path)).sort());
  for (const name of ["sshoal-run", ...Object.keys(bin)])
    assert.match(run(".", "man", "--where", name)[0], /share\/man\/man1\/|dist\/man\//);
}

function tryCompletion() {
  for (const [index, shell] of ["bash", "zsh", "fish"].entries()) {
    const file = join(place, "lib", "node_modules", "sshoal", "dist", "completion", COMPLETION[index]);
    assert.equal(run(".", "sshoal", "completion", shell).join("\n"), readFileSync(file, "utf8").trimEnd());
  }
}

function tryBatch() {
  writeFileSync(join(place, "jobs.sh"), "echo one\necho two > file && cat file\n");
  run(".", "execute_batch", "jobs.sh", ...LIGHT, "--copy-forward", "jobs.sh");
  const resultOf = (name) => readFileSync(join(place, "job_results", name), "utf8");
  assert.equal(resultOf("jobs.sh.1.out"), "one\n");
  assert.equal(resultOf("jobs.sh.2.out"), "two\n");
  assert.equal(resultOf("jobs.sh.2/file"), "two\n");
}

function trySweep() {
  const words = ["echo lr={lr}", "-p", "lr", "0.1", "0.01"];
  assert.deepEqual(run("sweep", "sshoal", "sweep", ...words), ["echo lr=0.1", "echo lr=0.01"]);
  run("sweep", "sshoal", "sweep", ...words, "--run", ...LIGHT);
  assert.match(run("sweep", "sshoal", "results")[0], /^sweep-.*: 2 succeeded$/);
}

/** The lines that a program prints, run in a directory below `place`. The installed commands come first on the PATH. */
function run(directory, program, ...args) {
  const home = join(place, "home");
  const cwd = join(place, directory);
  for (const dir of [home, cwd]) mkdirSync(dir, { recursive: true });
  const env = { HOME: home, PATH: `${join(place, "bin")}:${process.env.PATH}` };
  return execFileSync(program, args, { cwd, env, encoding: "utf8" }).trimEnd().split("\n");
}
