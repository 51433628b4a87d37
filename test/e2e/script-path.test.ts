// A batch is its file, whichever way its path is typed.

import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { LIGHT_NO_GPU, listBelow } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";

const own = useOwnHome({ "a/b.sh": "echo ran >> ran\n" });

function run(script: string) {
  return runCommand([script, ...LIGHT_NO_GPU], { cwd: own.work.dir, home: own.home.dir });
}

function sshoal(...args: string[]) {
  return runCommand(args, { cwd: own.work.dir, home: own.home.dir, program: "sshoal" });
}

const SKIPPED = "WARNING: job results already exists for line 1, skipping evaluation";

test("a script typed in any other way is the same batch: nothing runs twice", async () => {
  expect(await run("a/b.sh")).toMatchObject({ code: 0 });
  symlinkSync("a", own.work.path("dir"));
  symlinkSync("a/b.sh", own.work.path("link.sh"));
  const spellings = ["./a/b.sh", own.work.path("a/b.sh"), "a/../a//b.sh", "dir/b.sh", "link.sh"];
  for (const script of spellings) {
    const { code, stdout, stderr } = await run(script);
    expect(stdout + stderr).toContain(SKIPPED);
    expect(code).toBe(0);
    expect((await sshoal("status", script)).stdout).toContain("1 succeeded");
  }
  expect(await own.work.read("ran")).toBe("ran\n");
  expect(listBelow(own.work.path("job_results")).filter((path) => path.endsWith(".jsonl"))).toEqual([
    ".sshoal/a_b.sh.jsonl",
  ]);
});

test("jobs are named for the path relative to the working directory", async () => {
  expect(await run(own.work.path("a/b.sh"))).toMatchObject({ code: 0 });
  expect(listBelow(own.work.path("job_results"))).toContain("a_b.sh.1.out");
});

test("a/b.sh beside a_b.sh: the second is refused, with a hint, and the first does not change", async () => {
  await own.work.write("a_b.sh", "echo other >> ran\n");
  expect(await run("a/b.sh")).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await run("a_b.sh");
  expect(stderr).toBe(
    "error: a_b.sh and a/b.sh are two scripts, but the results of both would be a_b.sh.1 and so on\n" +
      "try: rename one of them: mv a_b.sh …\n",
  );
  expect(stdout).toBe("");
  expect(code).toBe(2);
  expect(await own.work.read("ran")).toBe("ran\n");
});

test("a script that was moved to where its results have the same names is resumed", async () => {
  expect(await run("a/b.sh")).toMatchObject({ code: 0 });
  renameSync(own.work.path("a/b.sh"), own.work.path("a_b.sh"));
  expect((await run("a_b.sh")).code).toBe(0);
  expect(await own.work.read("ran")).toBe("ran\n");
});

test("a batch that an earlier version named for the path as typed keeps its name", async () => {
  mkdirSync(own.work.path("real"));
  await own.work.write("real/c.sh", "echo ran >> ran\n");
  expect(await run("real/c.sh")).toMatchObject({ code: 0 });
  // As version 0.1 would have left it, for a path through a link.
  symlinkSync("real", own.work.path("via"));
  const rename = (from: string, to: string) =>
    renameSync(own.work.path("job_results", from), own.work.path("job_results", to));
  for (const ending of ["", ".out", ".err"]) rename(`real_c.sh.1${ending}`, `via_c.sh.1${ending}`);
  const record = (await own.work.read("job_results/.sshoal/real_c.sh.jsonl")).replaceAll(
    "real_c.sh",
    "via_c.sh",
  );
  await own.work.write("job_results/.sshoal/via_c.sh.jsonl", record.replaceAll("real/c.sh", "via/c.sh"));
  renameSync(own.work.path("job_results/.sshoal/real_c.sh.jsonl"), own.work.path("moved-away"));
  const { code, stdout, stderr } = await run("via/c.sh");
  expect(stdout + stderr).toContain(SKIPPED);
  expect(code).toBe(0);
  expect(await own.work.read("ran")).toBe("ran\n");
});
