// #@ lines of a batch file: options for all jobs, and jobs with different requirements.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LIGHT, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { startHost } from "../rig/host.js";
import { useMachine } from "../rig/one-machine.js";
import { makeWorkspace } from "../rig/workspace.js";

const { host, work, seen } = useMachine(() => startHost({ name: "gpu", path: [STAND_IN_BIN] }));

async function run(lines: readonly string[], ...extra: string[]) {
  await work.write("jobs.sh", lines.map((line) => `${line}\n`).join(""));
  return runCommand(["jobs.sh", ...LIGHT, ...extra], { cwd: work.dir });
}

function install(gpus: Parameters<typeof saveGpus>[1]["gpus"]): void {
  saveGpus(join(host.homeDir, "nvidia-smi.state"), { gpus });
}

function output(line: number): Promise<string> {
  return work.read(`job_results/jobs.sh.${line}.out`);
}

test("for all jobs at the top of the file, for one job right above it", async () => {
  const lines = [
    `#@ --machines ${await host.machineFile()} --no-gpu-required`,
    "#@ --env A=all --env B='b b' --timeout 90s",
    "",
    'echo "$A $B"',
    "#@ --env A=own --timeout 1s",
    'echo "$A $B"; sleep 60',
    'echo "$A"',
  ];
  const { code, stdout } = await run(lines, "--env", "B=typed");
  expect([code, stdout]).toEqual([1, expect.stringContaining("2 succeeded, 1 failed")]);
  expect(await output(4)).toBe("all typed\n");
  expect(await output(6)).toBe("own typed\n");
  expect(stdout).toMatch(/\n\S 6 {2}timed out {2}/);
  expect(await output(7)).toBe("all\n");
});

test("a job that needs more gets a card that has it; never two jobs of any kind on a card", async () => {
  install([{ memoryFree: 4000 }, { memoryFree: 20000 }]);
  const card = `${seen.dir}/card-$CUDA_VISIBLE_DEVICES`;
  const job = `mkdir ${card} || exit 9; echo $CUDA_VISIBLE_DEVICES; sleep 0.1; rmdir ${card}`;
  const big = ["#@ --gpu-memory-required 8000", job];
  const lines = [job, job, ...big, job, job, job, ...big, job, job, ...big];
  const file = await host.machineFile();
  const { code, stdout, stderr } = await run(lines, "--machines", file, "--gpu-memory-required", "1000");
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining("10 succeeded, 0 failed")]);
  for (const line of [4, 9, 13]) expect(await output(line)).toBe("1\n");
});

test("kinds share cores and cards as far as there is room, at the same time", async () => {
  install([{}, {}]);
  const both = (other: number) => `touch ${seen.dir}/$SSHOAL_JOB; ${waitFor(seen.path(`jobs.sh.${other}`))}`;
  const lines = [both(3), "#@ --gpu-memory-required 8000 --num-cpus 0.5", both(1)];
  const { code } = await run(lines, "--machines", await host.machineFile());
  expect(code).toBe(0);
});

test("a batch with jobs of several kinds is resumed by another command, and from another directory", async () => {
  install([{ memoryFree: 4000 }, {}]);
  const gate = waitFor(seen.path("go"));
  const big = ["#@ --gpu-memory-required 8000 --timeout 60s", `${gate}; echo big $CUDA_VISIBLE_DEVICES`];
  const machines = ["--machines", await host.machineFile()];
  await run([`${gate}; echo small`, ...big, ...big, "echo last"], ...machines, "--detach");
  const record = await work.read("job_results/.sshoal/jobs.sh.jsonl");
  const [, batch = ""] = /"batch":"([^"]+)"/.exec(record) ?? [];
  await seen.write("go", "");
  const elsewhere = await makeWorkspace();
  onTestFinished(() => elsewhere.remove());
  const attached = await runCommand(["attach", batch, ...machines], {
    cwd: elsewhere.dir,
    program: "sshoal",
  });
  expect([attached.code, attached.stdout]).toEqual([0, expect.stringContaining("4 succeeded, 0 failed")]);
  for (const line of [3, 5]) expect(await elsewhere.read(`job_results/jobs.sh.${line}.out`)).toBe("big 1\n");
});

test("jobs that no machine can ever run are reported, and the others run", async () => {
  install([{}]);
  const lines = ["echo a", "#@ --gpu-memory-required 80000", "echo b", "echo c"];
  const { code, stdout, stderr } = await run(lines, "--machines", await host.machineFile());
  expect([code, stdout]).toEqual([1, expect.stringContaining("2 succeeded, 0 failed, 1 left out")]);
  expect(stderr).toMatch(
    /gpu\.yaml has no room for line 3: .*GPU 0: memory: a job needs 80000 MB, \d+ MB are free/,
  );
});

test("mistakes in them are reported before anything begins", async () => {
  const { code, stderr } = await run(["#@ --num-cpus x --json", "echo a", "#@ --machines b", "echo b"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^error: jobs\.sh:1: --num-cpus takes a number <n>, got "x"\ntry: .*\nerror: jobs\.sh:3: --machines cannot be set here\ntry: for one job: /,
  );
});
