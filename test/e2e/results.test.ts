// `sshoal results`: one row per job with its metrics, for people, spreadsheets and programs.

import { symlinkSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { type BatchHost, startHost } from "../rig/host.js";
import { runOnTerminal } from "../rig/terminal.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const TRAIN = `#!/bin/bash
case $1 in
  marked) echo "sshoal: acc=0.5 loss=9"; echo "epoch 2"; echo "sshoal: acc=0.75" ;;
  json) echo noise; echo '{"acc": 0.25, "loss": NaN, "val": {"acc": 0.1}}' ;;
  file) echo '{"acc": 0.9, "=cmd": 1}' > metrics.json ;;
  huge) echo "sshoal: early=1"; head -c 1000000 /dev/zero | tr '\\0' 'x'; echo; echo "sshoal: acc=0.8" ;;
  large) { echo '{"acc": 1, "x": "'; head -c 400000 /dev/zero | tr '\\0' 'x'; echo '"}'; } > metrics.json ;;
  fails) printf 'sshoal: acc=0.1 \\033[31mloss=3\\n'; exit 3 ;;
esac
`;
const KINDS = ["marked", "json", "file", "huge", "large", "fails"];

let host: BatchHost;
let work: Workspace;
let stem: string;
let options: string[];

beforeAll(async () => {
  [host, work] = await Promise.all([startHost({ name: "one" }), makeWorkspace({ "train.sh": TRAIN })]);
  options = ["--machines", await host.machineFile("max_jobs: 3"), ...LIGHT_NO_GPU];
  const words = ["sweep", "./train.sh {kind}", "-p", "kind", ...KINDS, "--run", ...options, "--json"];
  const { stdout } = await runCommand(words, { program: "sshoal", cwd: work.dir });
  stem = parseEvents(stdout)[0]?.script;
});
afterAll(() => Promise.all([host?.stop(), work?.remove()]));

function results(...args: string[]) {
  return runCommand(["results", ...args], { program: "sshoal", cwd: work.dir });
}

test("a table that fits the terminal, sorted by a metric", async () => {
  const { code, stdout, stderr } = await results("--sort", "-acc");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.split("\n").slice(0, -1);
  expect(lines[0]).toMatch(/^sweep-[0-9a-f]{6}-[0-9a-f]{8}: 5 succeeded, 1 failed$/);
  expect(lines[1]).toMatch(
    /^job {2}state {6}kind {5}acc {2}loss {2}val\.acc {2}=cmd {2}seconds {2}machine {3}slot$/,
  );
  const rows = lines.slice(2).map((line) => line.split(/ +/).slice(1, 7));
  expect(rows).toEqual([
    ["3", "succeeded", "file", "0.9", "-", "-"],
    ["4", "succeeded", "huge", "0.8", "-", "-"],
    ["1", "succeeded", "marked", "0.75", "9", "-"],
    ["2", "succeeded", "json", "0.25", "NaN", "0.1"],
    ["6", "failed", "fails", "0.1", "3", "-"],
    ["5", "succeeded", "large", "-", "-", "-"],
  ]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  const ascending = await results(stem, "--sort", "acc");
  expect(
    ascending.stdout
      .split("\n")
      .slice(2, 8)
      .map((line) => line.split(/ +/)[1]),
  ).toEqual(["6", "2", "1", "4", "3", "5"]);
});

test("CSV, without formulas", async () => {
  const { stdout } = await results("--csv");
  const lines = stdout.split("\n");
  expect(lines[0]).toBe(
    "job,state,failure,kind,acc,loss,val.acc,'=cmd,seconds,cpu_seconds,memory_mb,gpu_memory_mb,machine,slot,attempt,command",
  );
  expect(lines[2]).toMatch(
    /^2,succeeded,,json,0\.25,NaN,0\.1,,[\d.]+,[\d.]*,\d*,,one\.yaml,[012],1,\.\/train\.sh json$/,
  );
  expect(lines).toHaveLength(8);
});

test("JSON: one object per job", async () => {
  const [first, ...others] = parseEvents((await results("--json")).stdout);
  expect(first).toEqual({
    v: 2,
    kind: "job-result",
    batch: expect.stringContaining(stem),
    job: 1,
    name: `${stem}.1`,
    line: null,
    state: "succeeded",
    outcome: { kind: "exited", code: 0 },
    parameters: { kind: "marked" },
    metrics: { acc: 0.75, loss: 9 },
    startedAt: expect.any(Number),
    durationMs: expect.any(Number),
    cpuMs: null,
    memoryMb: null,
    gpuMemoryMb: null,
    machine: "one.yaml",
    slot: expect.any(Number),
    attempt: 1,
    command: "./train.sh marked",
  });
  expect(others.map(({ metrics }) => metrics)).toEqual([
    { acc: 0.25, loss: "NaN", "val.acc": 0.1 },
    { acc: 0.9, "=cmd": 1 },
    { acc: 0.8 },
    {},
    { acc: 0.1, loss: 3 },
  ]);
});

test("waiting and running jobs have rows, too, with the metrics printed so far", async () => {
  const here = await makeWorkspace();
  const script = `echo "sshoal: acc=0.5"; ${waitFor(here.path("go"))}; echo "sshoal: acc=0.6"\n`;
  await here.write("jobs.sh", script.repeat(4));
  const args = ["jobs.sh", ...options];
  const show = async () =>
    parseEvents((await runCommand(["results", "--json"], { program: "sshoal", cwd: here.dir })).stdout);
  const client = runCommand(args, { cwd: here.dir });
  let rows = await show();
  await until("three have begun and said something", async () => {
    rows = await show();
    return rows.filter(({ metrics }) => metrics?.acc === 0.5).length === 3;
  });
  expect(rows.map(({ state }) => state)).toEqual(["running", "running", "running", "waiting"]);
  expect(rows[0]).toMatchObject({ parameters: {}, durationMs: null, startedAt: expect.any(Number) });
  expect(rows[3]).toMatchObject({ startedAt: null, durationMs: null, slot: null });
  await here.write("go", "");
  expect((await client).code).toBe(0);
  expect((await show()).map(({ metrics }) => metrics.acc)).toEqual([0.6, 0.6, 0.6, 0.6]);
  const table = await runCommand(["results"], { program: "sshoal", cwd: here.dir });
  expect(table.stdout).toMatch(/^job {2}state.*command$/m);
  await here.remove();
});

test("a link among the results is not followed", async () => {
  const here = await makeWorkspace({ "secret.json": '{"secret": 1}', "jobs.sh": "true\n" });
  await runCommand(["jobs.sh", ...options], { cwd: here.dir });
  symlinkSync(here.path("secret.json"), here.path("job_results/jobs.sh.1/metrics.json"));
  const { stdout, stderr } = await runCommand(["results"], { program: "sshoal", cwd: here.dir });
  expect(stdout).not.toContain("secret");
  expect(stderr).toBe('no job has left a metric: let it print a line such as "sshoal: acc=0.91 loss=0.2"\n');
  await here.remove();
});

describe("mistakes in the command are reported", () => {
  test.each([
    [
      ["--sort", "accuracy"],
      "error: there is no column accuracy\n" +
        "try: there are the metrics acc, loss, val.acc, =cmd, and job, state, failure, kind, seconds, cpu_seconds, memory_mb, gpu_memory_mb, machine, slot, attempt\n",
    ],
    [["--csv", "--html"], "error: --csv and --html: one at a time\ntry: sshoal results --csv\n"],
    [["train.sh"], /^error: there is no batch train\.sh here\ntry: there are sweep-/],
  ])("%j", async (args, said) => {
    const { code, stdout, stderr } = await results(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toEqual(typeof said === "string" ? said : expect.stringMatching(said));
  });

  test("an ambiguous batch", async () => {
    await work.write("b.sh", "true\n");
    await runCommand(["b.sh", ...options], { cwd: work.dir });
    expect((await results()).stderr).toBe(
      `error: which batch? There are b.sh, ${stem}\ntry: sshoal results b.sh\n`,
    );
    expect((await results("b.sh")).stdout).toMatch(/^b\.sh-\w{8}: 1 succeeded\n/);
  });

  test("a page on a terminal", async () => {
    const terminal = runOnTerminal(["results", stem, "--html"], {
      program: "sshoal",
      cwd: work.dir,
      home: work.dir,
    });
    expect(await terminal.ended).toBe(2);
    expect(terminal.shown()).toBe(
      "error: a page is for a browser, not for a terminal\r\ntry: sshoal results --html > results.html\r\n",
    );
  });
});
