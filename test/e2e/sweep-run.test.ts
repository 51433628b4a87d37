// `sshoal sweep --run`: a sweep is a batch, whose jobs have their parameters in every report.

import { readdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { type BatchHost, startHost } from "../rig/host.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: BatchHost;
let work: Workspace;
let other: Workspace;

beforeAll(async () => {
  host = await startHost({ name: "one" });
});
beforeEach(async () => {
  [work, other] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([work.remove(), other.remove()]));
afterAll(() => host?.stop());

function sshoal(args: readonly string[], cwd = work.dir) {
  return runCommand(args, { program: "sshoal", cwd });
}

async function onHost(): Promise<string[]> {
  return ["--machines", await host.machineFile("max_jobs: 2"), ...LIGHT_NO_GPU];
}

async function statusOf(cwd = work.dir) {
  const { stdout } = await sshoal(["status", "--json"], cwd);
  return parseEvents(stdout);
}

test("runs the commands, keeps their parameters, and resumes by the same command", async () => {
  const typed = ["sweep", `test {lr} != 0.2 && echo {lr} {name} > got`, "-p", "lr", "0.1", "0.2"];
  const words = [...typed, "-p", "name", "a b", "--run", ...(await onHost())];
  const first = await sshoal([...words, "--json"]);
  expect(first).toMatchObject({ code: 1, stderr: "" });
  const [started] = parseEvents(first.stdout);
  const stem = started?.script;
  expect(stem).toMatch(/^sweep-[0-9a-f]{6}$/);
  expect(started?.jobs).toEqual([
    {
      id: 1,
      line: null,
      name: `${stem}.1`,
      command: "test 0.1 != 0.2 && echo 0.1 'a b' > got",
      parameters: { lr: "0.1", name: "a b" },
    },
    {
      id: 2,
      line: null,
      name: `${stem}.2`,
      command: "test 0.2 != 0.2 && echo 0.2 'a b' > got",
      parameters: { lr: "0.2", name: "a b" },
    },
  ]);
  expect(await work.read(`job_results/${stem}.1/got`)).toBe("0.1 a b\n");

  const again = await sshoal(words);
  expect(again.stdout).toContain("0 succeeded, 0 failed, 2 skipped (1 of them failed before)");
  const retried = await sshoal([...words, "--retry-failed"]);
  expect(retried.stdout).toContain("0 succeeded, 1 failed, 1 skipped");
  expect((await statusOf()).map(({ parameters }) => parameters)).toEqual([
    { lr: "0.1", name: "a b" },
    { lr: "0.2", name: "a b" },
  ]);
});

test("samples are the same each time, other samples are another batch, and a file names its own", async () => {
  const machines = await onHost();
  const drawn = ["sweep", "echo {lr} {seed}", "-p", "lr=log:1e-5..1e-1", "--n-samples", "2"];
  for (const [seed, said] of [
    [[], "2 succeeded"],
    [["--seed", "0"], "2 skipped"],
    [["--seed", "1"], "2 succeeded"],
  ] as const) {
    expect((await sshoal([...drawn, ...seed, "--run", ...machines])).stdout).toContain(said);
  }
  await work.write("sub/my.yaml", "command: echo {a}\ngrid:\n  a: [1]\n");
  expect((await sshoal(["sweep", "sub/my.yaml", "--run", ...machines])).code).toBe(0);
  const jobs = await statusOf();
  expect(jobs.map(({ name }) => name)).toEqual([
    "sub_my.yaml.1",
    ...jobs.slice(1).map(() => expect.stringMatching(/^sweep-[0-9a-f]{6}\.[12]$/)),
  ]);
  expect(jobs).toHaveLength(5);
  expect(jobs.at(-1)?.parameters).toEqual({ lr: expect.stringMatching(/^[\d.e-]+$/) });
});

test("a sweep that was left is resumed, in the same and in another directory, with its parameters", async () => {
  const machines = await onHost();
  const go = other.path("go");
  const words = ["sweep", `${waitFor(go)}; echo {lr}`, "-p", "lr", "0.1", "--run", ...machines];
  expect((await sshoal([...words, "--detach"])).code).toBe(0);
  const [job] = await statusOf();
  const { stdout } = await sshoal(["status"]);
  const stem = job?.name.replace(/\.1$/, "");
  expect(stdout).toContain(`no client follows it: sshoal attach ${stem} resumes it`);

  // No client sees what happens now: only the machine has it.
  await other.write("go", "");
  await until("nothing runs there any more", () => host.pids().length === 0);
  const [row] = parseEvents((await sshoal(["results", "--json"])).stdout);
  expect(row).toMatchObject({
    state: "succeeded",
    startedAt: expect.any(Number),
    durationMs: expect.any(Number),
    metrics: {},
  });

  const picked = ["attach", job?.batch, ...machines.slice(0, 2)];
  expect((await sshoal(picked, other.dir)).code).toBe(0);
  expect(await other.read(`job_results/${stem}.1.out`)).toBe("0.1\n");
  expect(await statusOf(other.dir)).toMatchObject([
    { state: "succeeded", collected: true, parameters: { lr: "0.1" } },
  ]);
});

test("mistakes are reported before anything runs", async () => {
  const typed = ["sweep", "echo {a}", "-p", "a", "1"];
  for (const [words, said] of [
    [
      [...typed, "--no-gpu-required", "-v", "--env", "A=1"],
      "error: --no-gpu-required, --env, --verbose: no effect without --run, because the commands are only printed\n" +
        "try: add --run to run them\n",
    ],
    [
      ["sweep", "-p", "a", "1", "--run", "--machines", "x", "echo {a}"],
      'error: which command? --machines has taken "echo {a}" too\n' +
        'try: put the command first: sshoal sweep "…" --machines …\n',
    ],
    [
      [...typed, "--run", "--timeout", "3"],
      'error: --timeout takes a duration with a unit, got "3"\ntry: for example --timeout 90s, 10m or 1h30m\n',
    ],
    [
      ["sweep", "echo {b}", "-p", "a", "1", "--run"],
      "error: the command: {b} is no parameter, did you mean {a}?\ntry: write {{b}} for the braces themselves\n" +
        "error: -p a: a is not used in the command\ntry: write {a} where its values go\n",
    ],
  ] as const) {
    expect(await sshoal(words)).toMatchObject({ code: 2, stdout: "", stderr: said });
  }
  expect(readdirSync(work.dir)).toEqual([]);
});
