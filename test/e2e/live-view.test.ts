// What a person sees while a batch runs, on a real terminal and in a pipe, and what is left when it has ended.

import { utimesSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { LIGHT, LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { otherAfterProbe, saveGpus } from "../rig/gpus.js";
import { useMachine } from "../rig/one-machine.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd } from "../rig/sshd.js";
import { runOnTerminal } from "../rig/terminal.js";
import { until } from "../rig/until.js";

let relay: Relay;
const { host, work, seen } = useMachine(() => startSshd({ name: "one" }));

beforeAll(async () => {
  relay = await startRelay(host.port);
});
afterAll(() => relay.stop());

const UNICODE = { LANG: "C.UTF-8", NO_COLOR: "1" };

/** The lines that are left at the end. */
function lastLines(shown: string, count: number): string[] {
  return stripVTControlCharacters(shown).trimEnd().replaceAll("\r", "").split("\n").slice(-count);
}

test("each job by its parameters with its last line, failures, waits and a lost machine at once, then what to type", async () => {
  const train = `#!/bin/bash
[ "$1 $2" != "1e-3 64" ] || { echo loading; echo Traceback >&2; printf "\\033[31mKeyError: 'pos_embed'\\033[0m\\n" >&2; exit 1; }
printf '\\033[2Jepoch 3/10\\n'
${waitFor(seen.path("go"))}
`;
  await work.write("train.sh", train);
  await chmod(work.path("train.sh"), 0o755);
  const machine = await host.machineFile("max_jobs: 2", relay);
  const words = ["sweep", "./train.sh {lr} {bs}", "-p", "lr", "1e-3", "3e-4", "-p", "bs", "64", "128"];
  const terminal = runOnTerminal([...words, "--run", "--machines", machine, ...LIGHT_NO_GPU], {
    program: "sshoal",
    cwd: work.dir,
    home: work.dir,
    env: UNICODE,
  });
  await Promise.all([
    terminal.shows(/✗ 1 {2}one\.yaml +\d+s {2}exit 1 +KeyError: 'pos_embed'/),
    terminal.shows(/● 2 {2}one\.yaml +\d+s {2}lr 1e-3 bs 128 {2}epoch 3\/10/),
    terminal.shows(/● 3 {2}one\.yaml +\d+s {2}lr 3e-4 bs 64 +epoch 3\/10/),
    terminal.shows(/○ 4 {2}waits +\d+s {2}one\.yaml: 2 of 2 busy/),
  ]);
  relay.pause();
  await terminal.shows(/one\.yaml {2}no answer for \d+s; its 2 jobs continue/);
  relay.resume();
  relay.refuse();
  relay.cut();
  await terminal.shows(/one\.yaml {2}unreachable for \d+s, trying again; its 2 jobs continue/);
  await terminal.shows(/● 2 .* last seen \d+s ago: epoch 3\/10/);
  relay.accept();
  await seen.write("go", "");
  expect(await terminal.ended).toBe(1);
  const [counts, failure, next] = lastLines(terminal.shown(), 3);
  expect(counts).toMatch(/^sweep-\w+: 3 succeeded, 1 failed in \d+s$/);
  expect(failure).toMatch(/^✗ 1 {2}exit 1 {2}one\.yaml {2}\d+s {2}KeyError: 'pos_embed'$/);
  expect(next).toBe("Next: sshoal logs 1 · sshoal retry --failed · sshoal results");
  expect(terminal.shown()).not.toContain("\x1b[2J");

  for (const command of (next ?? "").replace("Next: ", "").split(" · ")) {
    const [, ...args] = command.split(" ");
    const { code, stdout, stderr } = await runCommand(args, { program: "sshoal", cwd: work.dir });
    expect(stdout + stderr, command).toMatch(/loading|1 failed/);
    expect(code, command).toBe(args[0] === "retry" ? 1 : 0);
  }
});

test("after resuming, a silent job has its last line, and how long it has printed nothing", async () => {
  await work.write("jobs.sh", `echo epoch 1; ${waitFor(seen.path("go"))}\n`);
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  const first = spawnCommand(args, { cwd: work.dir });
  const out = "job_results/jobs.sh.1.out";
  await until("its words are here", async () => (await work.read(out).catch(() => "")) === "epoch 1\n");
  first.child.kill("SIGKILL");
  await first.ended;
  const tenMinutesAgo = Date.now() / 1000 - 600;
  utimesSync(work.path(out), tenMinutesAgo, tenMinutesAgo);
  const terminal = runOnTerminal(["attach"], {
    program: "sshoal",
    cwd: work.dir,
    home: work.dir,
    env: { NO_COLOR: "1" },
    size: { rows: 40, columns: 140 },
  });
  await terminal.shows(/! 1 {2}one\.yaml +\w+ {2}.*no output for 10m: epoch 1/);
  await seen.write("go", "");
  expect(await terminal.ended).toBe(0);
});

test("a plain run prints once why it waits", async () => {
  // For the probe, which asks first, the cards are free. For slots they are full until a file exists.
  await work.write("bin/nvidia-smi", otherAfterProbe(seen.dir, work.path("full.state")));
  await chmod(work.path("bin/nvidia-smi"), 0o755);
  const gpus = await startSshd({ name: "gpu", path: [work.path("bin")] });
  onTestFinished(() => gpus.stop());
  saveGpus(join(gpus.homeDir, "nvidia-smi.state"), { gpus: [{}, {}] });
  saveGpus(work.path("full.state"), { gpus: [{ memoryFree: 12 }, { memoryFree: 12 }] });
  await work.write("jobs.sh", "true\ntrue\n");
  const args = ["jobs.sh", "--machines", await gpus.machineFile(), ...LIGHT];
  const command = spawnCommand(args, { cwd: work.dir });
  await command.until(({ stderr }) => /waiting: /.test(stderr()));
  await seen.write("left", "");
  const { code, stderr } = await command.ended;
  expect(code).toBe(0);
  const waits = stderr.split("\n").filter((line) => line.startsWith("waiting: "));
  expect(waits).toEqual(["waiting: gpu.yaml; cards 0-1: 12 MB free of 24576, needs 1000"]);
});

test("jobs that began while the client was away are listed in the order in which they began", async () => {
  const job = (wave: number) => `echo x >> ${seen.path(`wave${wave}`)}; ${waitFor(seen.path(`go${wave}`))}`;
  await work.write("jobs.sh", [1, 2, 3].flatMap((wave) => [job(wave), job(wave), job(wave)]).join("\n"));
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 3", relay), ...LIGHT_NO_GPU];
  const command = spawnCommand(args, { cwd: work.dir });
  await command.until(({ stdout }) => stdout().split("started: ").length === 4);
  relay.refuse();
  relay.cut();
  for (const wave of [1, 2]) {
    await seen.write(`go${wave}`, "");
    const next = `wave${wave + 1}`;
    await until(`${next} runs`, async () => (await seen.read(next).catch(() => "")) === "x\nx\nx\n");
  }
  relay.accept();
  await seen.write("go3", "");
  const { code, stdout } = await command.ended;
  expect(code).toBe(0);
  const started = [...stdout.matchAll(/^started: jobs\.sh\.(\d);/gm)].map(([, line]) => Number(line));
  expect(started.map((line) => Math.ceil(line / 3))).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3]);
});
