// Cards and slots: which job gets which card, never two jobs on a reserved one, and what the machine file excludes.

import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LIGHT, parseEvents, waitFor } from "../rig/batch.js";
import { type CommandResult, runCommand, spawnCommand } from "../rig/command.js";
import { otherAfterProbe, STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { startHost } from "../rig/host.js";
import { useMachine } from "../rig/one-machine.js";

const { host, work, seen } = useMachine(() => startHost({ name: "gpu", path: [STAND_IN_BIN] }));

function install(gpus: Parameters<typeof saveGpus>[1]["gpus"]): void {
  saveGpus(join(host.homeDir, "nvidia-smi.state"), { gpus });
}

async function argsFor(jobs: readonly string[], machine: string, extra: readonly string[]) {
  await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  return ["jobs.sh", "--machines", await host.machineFile(machine), ...LIGHT, ...extra];
}

async function run(jobs: readonly string[], machine: string, extra: readonly string[] = []) {
  return runCommand(await argsFor(jobs, machine, extra), { cwd: work.dir });
}

/** Runs one job that does nothing, and returns the printed choices. */
async function choices(machine: string, extra: readonly string[] = []): Promise<string | undefined> {
  const { code, stdout, stderr } = await run(["true"], machine, extra);
  expect(code, stdout + stderr).toBe(0);
  return /^machine gpu choices: (.*)$/m.exec(stdout)?.[1];
}

function limitOf({ stdout }: CommandResult): string | undefined {
  return /^machine limits: {2}\{'gpu\.yaml': (\d+)\}$/m.exec(stdout)?.[1];
}

function outputs(count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => work.read(`job_results/jobs.sh.${index + 1}.out`)),
  );
}

test("each job sees one card, and no two jobs are on a card at the same time", async () => {
  install([{}, {}, {}]);
  const card = `${seen.dir}/card-$CUDA_VISIBLE_DEVICES`;
  const job = `mkdir ${card} || exit 9; echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER; sleep 0.1; rmdir ${card}`;
  const result = await run(Array(9).fill(job), "");
  expect(result.stdout).toContain("machine limits:  {'gpu.yaml': 3}\nmachine gpu choices: [[0, 1, 2]]\n");
  expect(result.stdout).toMatch(/^started: jobs\.sh\.1; {2}export CUDA_VISIBLE_DEVICES=[012] && mkdir /m);
  expect(result.stdout).toContain("9 succeeded, 0 failed");
  const lines = await outputs(9);
  expect(lines.filter((line) => !/^[012] PCI_BUS_ID\n$/.test(line))).toEqual([]);
  expect(new Set(lines).size).toBe(3);
});

test("--gpus-per-job 2: pairs of cards, and no card in two pairs", async () => {
  install([{}, {}, {}, {}, {}]);
  const both = `${waitFor(seen.path("jobs.sh.1"))}; ${waitFor(seen.path("jobs.sh.2"))}`;
  const hold = "for c in $(echo $CUDA_VISIBLE_DEVICES | tr , ' '); do";
  const job = `${hold} mkdir ${seen.dir}/$c || exit 9; done; echo $CUDA_VISIBLE_DEVICES; touch ${seen.dir}/$SSHOAL_JOB; ${both}; ${hold} rmdir ${seen.dir}/$c; done`;
  const result = await run(Array(6).fill(job), "", ["--gpus-per-job", "2"]);
  expect(result.stdout).toContain("machine gpu choices: [[[0, 1], [2, 3]]]\n");
  expect(result.stdout).toContain("6 succeeded, 0 failed");
  expect([...new Set(await outputs(6))].sort()).toEqual(["0,1\n", "2,3\n"]);
});

test("--no-reserve-gpu: several jobs share a card, as far as memory and utilization allow", async () => {
  install([{ memoryFree: 5000 }, { memoryFree: 2500 }]);
  const half = ["--no-reserve-gpu", "--gpu-utilization", "0.4", "--gpu-memory-required", "1000"];
  expect(await choices("", half)).toBe("[[0, 1, 0, 1, 0]]");
});

test("jobs that share a card run at the same time", async () => {
  install([{}]);
  const job = `touch ${seen.dir}/$SSHOAL_JOB; ${waitFor(seen.path("jobs.sh.1"))}; ${waitFor(seen.path("jobs.sh.2"))}; echo $CUDA_VISIBLE_DEVICES`;
  const { code } = await run([job, job], "", ["--no-reserve-gpu", "--gpu-utilization", "0.6"]);
  expect(code).toBe(0);
  expect(await outputs(2)).toEqual(["0\n", "0\n"]);
});

test("--reserve: one job at a time has the whole machine and sees every card", async () => {
  install([{}, {}]);
  const job = `mkdir ${seen.dir}/alone || exit 9; echo "\${CUDA_VISIBLE_DEVICES-all}"; sleep 0.1; rmdir ${seen.dir}/alone`;
  const result = await run([job, job, job], "", ["--reserve"]);
  expect(limitOf(result)).toBe("1");
  expect(result.code).toBe(0);
  expect(await outputs(3)).toEqual(["all\n", "all\n", "all\n"]);
});

test("the machine file sets the cards, the number of jobs and what is kept for people", async () => {
  install([{}, {}, {}, {}]);
  expect(await choices("gpus: [3, 1]")).toBe("[[1, 3]]");
  await rm(work.path("job_results"), { recursive: true });
  expect(await choices("exclude_gpus: [0, 2]")).toBe("[[1, 3]]");
  await rm(work.path("job_results"), { recursive: true });
  expect(await choices("gpus: [0, 1, 2]\nexclude_gpus: [1]")).toBe("[[0, 2]]");
  await rm(work.path("job_results"), { recursive: true });
  expect(await choices("max_jobs: 3")).toBe("[[0, 1, 2]]");
  await rm(work.path("job_results"), { recursive: true });
  expect(await choices("keep_free: { gpus: 3 }")).toMatch(/^\[\[\d\]\]$/);
});

test("keep_free of more memory than there is leaves no room", async () => {
  install([{}]);
  const { code, stderr } = await run(["true"], "keep_free:\n  memory: 100000000");
  expect(code).toBe(3);
  expect(stderr).toMatch(/gpu\.yaml is left out: memory: a job needs 1 MB, 0 MB are free: 1 MB short/);
});

test("full, busy or broken cards are not used", async () => {
  install([
    { memoryFree: 100 },
    { utilization: 90, processes: [{ pid: 1, memory: 200, name: "/usr/bin/python3" }] },
    { memoryFree: "[N/A]" },
    { memoryTotal: 24576, memoryFree: "ERR!" },
    {},
  ]);
  expect(await choices("")).toBe("[[4]]");
});

test("an idle card whose driver reports 100 % is used", async () => {
  install([{ utilization: 100 }]);
  expect(await choices("")).toBe("[[0]]");
});

test("MIG slices are shown by their names", async () => {
  install([
    {
      slices: [
        { profile: "1g.5gb", uuid: "MIG-aaaa", memoryTotal: 4864, memoryFree: 4800 },
        { profile: "1g.5gb", uuid: "MIG-bbbb", memoryTotal: 4864, memoryFree: 4800 },
      ],
    },
  ]);
  const job = `echo $CUDA_VISIBLE_DEVICES; touch ${seen.dir}/$SSHOAL_JOB; ${waitFor(seen.path("jobs.sh.1"))}; ${waitFor(seen.path("jobs.sh.2"))}`;
  const { code, stdout, stderr } = await run([job, job], "");
  expect(code, stdout + stderr).toBe(0);
  expect((await outputs(2)).sort()).toEqual(["MIG-aaaa\n", "MIG-bbbb\n"]);
});

test("a card that fills up after the probe is awaited, and that is reported", async () => {
  install([{}]);
  // The probe asks first, then a slot, right before a job.
  await work.write("nvidia-smi", otherAfterProbe(seen.dir, work.path("full.state")));
  const other = await startHost({ name: "gpu", path: [work.dir] });
  onTestFinished(() => other.stop());
  saveGpus(join(other.homeDir, "nvidia-smi.state"), { gpus: [{}] });
  saveGpus(work.path("full.state"), { gpus: [{ memoryFree: 12 }] });
  await chmod(work.path("nvidia-smi"), 0o755);
  await work.write("jobs.sh", "echo ran\n");
  const command = spawnCommand(["jobs.sh", "--machines", await other.machineFile(), ...LIGHT, "--json"], {
    cwd: work.dir,
  });
  await command.until(({ stdout }) => stdout().includes("slot-waiting"));
  const waiting = parseEvents(command.stdout()).find(({ kind }) => kind === "slot-waiting");
  expect(waiting).toMatchObject({
    machine: "gpu.yaml",
    slot: 0,
    reason: "card 0: 12 MB free of 24576, needs 1000",
    job: 1,
  });
  await seen.write("left", "");
  expect((await command.ended).code).toBe(0);
  expect(await outputs(1)).toEqual(["ran\n"]);
});
