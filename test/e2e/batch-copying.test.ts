// Which files of the working directory a job gets, and which of its own are collected.

import { chmod, mkdir, readFile, readlink, stat, symlink, utimes } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { EMPTY_SPOOL, LIGHT_NO_GPU, listBelow, listSpool, listTrees, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { startHost } from "../rig/host.js";
import { useMachine } from "../rig/one-machine.js";

const { host, work, seen } = useMachine(() => startHost({ name: "box" }));

async function argsFor(jobs: readonly string[], extra: readonly string[], machine = "max_jobs: 2") {
  await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  return ["jobs.sh", "--machines", await host.machineFile(machine), ...LIGHT_NO_GPU, ...extra];
}

async function run(jobs: readonly string[], extra: readonly string[] = [], machine?: string) {
  const result = await runCommand(await argsFor(jobs, extra, machine), { cwd: work.dir });
  expect(result.code, result.stdout + result.stderr).toBe(0);
  return result;
}

function out(line: number): Promise<string> {
  return work.read(`job_results/jobs.sh.${line}.out`);
}

function results(line: number): string[] {
  return listBelow(work.path(`job_results/jobs.sh.${line}`));
}

test("each job has its own copy: two that change the same file at once do not see each other", async () => {
  await work.write("state.txt", "start\n");
  const job = `echo $SSHOAL_JOB >> state.txt; touch ${seen.dir}/$SSHOAL_JOB; ${waitFor(seen.path("jobs.sh.1"))}; ${waitFor(seen.path("jobs.sh.2"))}; cat state.txt`;
  await run([job, job]);
  for (const line of [1, 2]) {
    expect(await out(line)).toBe(`start\njobs.sh.${line}\n`);
    expect(await work.read(`job_results/jobs.sh.${line}/state.txt`)).toBe(`start\njobs.sh.${line}\n`);
  }
  expect(await work.read("state.txt")).toBe("start\n");
});

test("only files that a job made or changed are collected", async () => {
  await work.write("in/kept.txt", "input\n");
  await work.write("in/changed.txt", "input\n");
  await work.write("in/sly.txt", "input\n");
  await work.write("in/removed.txt", "input\n");
  await mkdir(work.path("empty"));
  await run([
    "mkdir -p new/deep new/empty; echo new > new/deep/file; echo more >> in/changed.txt; rm in/removed.txt",
    // With the same size and its old time stamp.
    "touch -r in/sly.txt stamp; echo INPUT > in/sly.txt; touch -r stamp in/sly.txt; rm stamp",
    "true",
  ]);
  expect(results(1)).toEqual(["in/", "in/changed.txt", "new/", "new/deep/", "new/deep/file", "new/empty/"]);
  expect(results(2)).toEqual(["in/", "in/sly.txt"]);
  expect(await work.read("job_results/jobs.sh.2/in/sly.txt")).toBe("INPUT\n");
  expect(results(3)).toEqual([]);
});

test("--copy-unchanged also collects the inputs", async () => {
  await work.write("in/kept.txt", "input\n");
  await mkdir(work.path("empty"));
  await run(["echo new > made.txt"], ["--copy-unchanged"]);
  expect(results(1)).toEqual(["empty/", "in/", "in/kept.txt", "jobs.sh", "made.txt"]);
});

test("--copy-forward: a job gets only these paths", async () => {
  await work.write("src/deep/a.py", "a\n");
  await work.write("src/b.py", "b\n");
  await work.write("data/big.bin", "big\n");
  await work.write("notes.txt", "notes\n");
  const { stderr } = await run(["find . -type f | sort"], ["--copy-forward", "src/deep", "./notes.txt"]);
  expect(await out(1)).toBe("./notes.txt\n./src/deep/a.py\n");
  expect(stderr).toMatch(/^copying 2 files, 8 B\n/);
});

test("--copy-backwards: only files below these paths are collected", async () => {
  await run(
    ["mkdir -p models logs; echo m > models/m; echo l > logs/l; echo r > report.txt", "echo nothing of it"],
    ["--copy-backwards", "models", "./report.txt", "never-made"],
  );
  expect(results(1)).toEqual(["models/", "models/m", "report.txt"]);
  expect(results(2)).toEqual([]);
  expect(await out(2)).toBe("nothing of it\n");
});

test("--exclude: matching files are neither sent nor collected, in any directory", async () => {
  await work.write("old.ckpt", "old\n");
  await work.write("runs/deep/old.ckpt", "old\n");
  await work.write("runs/a b/notes.txt", "notes\n");
  await work.write("data/train.csv", "1\n");
  await work.write("lib/data/table.csv", "2\n");
  const { stderr } = await run(
    [
      "find . -type f | sort; mkdir -p out/cache/x data; echo m > out/m; echo c > out/new.ckpt; echo c > out/cache/x/c; echo d > data/d",
      "echo only > only.ckpt",
    ],
    ["--exclude", "*.ckpt", "--exclude", "/data", "--exclude", "cache/"],
  );
  expect((await out(1)).split("\n")).toEqual([
    "./jobs.sh",
    "./lib/data/table.csv",
    "./runs/a b/notes.txt",
    "",
  ]);
  expect(stderr).toContain("left out: data, old.ckpt, runs/deep/old.ckpt");
  expect(results(1)).toEqual(["out/", "out/m"]);
  expect(results(2)).toEqual([]);
});

test("job_results, .git and paths in .sshoalignore are not sent, and that is reported", async () => {
  await work.write(".sshoalignore", "# big things\n*.ckpt\n/data/\n!data/\n!keep.ckpt\n");
  await work.write(".git/config", "secret\n");
  await work.write("lib/.git/config", "secret\n");
  await work.write("job_results/other.sh.1/old.txt", "old\n");
  await work.write("data/train.csv", "1\n");
  await work.write("model.ckpt", "big\n");
  await work.write("keep.ckpt", "small\n");
  await work.write("lib/job_results/not-ours.txt", "travels\n");
  const { stderr } = await run(["find . -type f | sort"]);
  expect((await out(1)).split("\n")).toEqual([
    "./.sshoalignore",
    "./data/train.csv",
    "./jobs.sh",
    "./keep.ckpt",
    "./lib/job_results/not-ours.txt",
    "",
  ]);
  expect(stderr).toMatch(/^copying 5 files, \d+ B; left out: \.git, job_results, lib\/\.git, model\.ckpt\n/);
});

test("edits after the start do not reach waiting jobs", async () => {
  await work.write("model.py", "old\n");
  const go = seen.path("go");
  const command = spawnCommand(await argsFor([waitFor(go), "cat model.py jobs.sh"], [], "max_jobs: 1"), {
    cwd: work.dir,
  });
  await command.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  const script = await work.read("jobs.sh");
  await work.write("model.py", "new\n");
  await work.write("jobs.sh", "echo something else\n");
  await seen.write("go", "");
  expect((await command.ended).code).toBe(0);
  expect(await out(2)).toBe(`old\n${script}`);
});

test("modes and links are kept both ways; times of unchanged files stay", async () => {
  await work.write("tool.sh", "#!/bin/sh\necho run\n");
  await work.write("read-only.txt", "r\n");
  await chmod(work.path("read-only.txt"), 0o444);
  await symlink("tool.sh", work.path("link"));
  await utimes(work.path("read-only.txt"), 1000, 1_000_000_000);
  await run([
    "./link; stat -c '%a %Y' read-only.txt; readlink link; cp tool.sh made.sh; ln -s made.sh made-link",
  ]);
  expect(await out(1)).toBe("run\n444 1000000000\ntool.sh\n");
  expect((await stat(work.path("job_results/jobs.sh.1/made.sh"))).mode & 0o777).toBe(0o700);
  expect(await readlink(work.path("job_results/jobs.sh.1/made-link"))).toBe("made.sh");
});

test("files that the job itself can no longer read are still collected", async () => {
  await run(["umask 777; echo x > locked; mkdir dir"]);
  expect(results(1)).toEqual(["dir/", "locked"]);
  expect(await readFile(work.path("job_results/jobs.sh.1/locked"), "utf8")).toBe("x\n");
});

test("an empty tree: jobs start in an empty directory", async () => {
  await mkdir(work.path("nothing"));
  await run(["ls -A; echo made > made.txt"], ["--copy-forward", "nothing"]);
  expect(await out(1)).toBe("nothing\n");
  expect(results(1)).toEqual(["made.txt"]);
});

test("scratch: everything is there, and the home directory has only the lock", async () => {
  const fresh = await startHost({ name: "fresh" });
  onTestFinished(() => fresh.stop());
  await work.write("jobs.sh", "pwd; echo made > made.txt\n");
  const file = await fresh.machineFile(`max_jobs: 1\nscratch: "${seen.dir}/with space/it's"`);
  const args = ["jobs.sh", "--machines", file, ...LIGHT_NO_GPU];
  const { code, stderr } = await runCommand(args, { cwd: work.dir });
  expect(code, stderr).toBe(0);
  const root = seen.path("with space/it's/.sshoal");
  expect(await out(1)).toMatch(`${root}/batches/jobs.sh-`);
  expect(results(1)).toEqual(["made.txt"]);
  expect(listTrees(root)).toHaveLength(1);
  expect(listSpool(root)).toEqual(["batches/", "trees/"]);
  expect(listSpool(`${fresh.homeDir}/.sshoal`)).toEqual(EMPTY_SPOOL.filter((path) => path !== "trees/"));
});

test("scratch below the machine's own home", async () => {
  await run(["pwd"], [], "max_jobs: 1\nscratch: ~/big");
  expect(await out(1)).toMatch(`${host.homeDir}/big/.sshoal/batches/jobs.sh-`);
});
