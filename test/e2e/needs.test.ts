// What jobs need, end to end: parts of cards, certain cards, named resources, and the names of what a job got.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LIGHT, LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { useMachine } from "../rig/one-machine.js";
import { startSshd } from "../rig/sshd.js";

const { host, work, seen } = useMachine(() => startSshd({ name: "gpu", path: [STAND_IN_BIN] }));

function install(gpus: Parameters<typeof saveGpus>[1]["gpus"]): void {
  saveGpus(join(host.homeDir, "nvidia-smi.state"), { gpus });
}

async function run(lines: readonly string[], machine: string, extra: readonly string[]) {
  await work.write("jobs.sh", lines.map((line) => `${line}\n`).join(""));
  return again(machine, extra);
}

async function again(machine: string, extra: readonly string[]) {
  return runCommand(["jobs.sh", "--machines", await host.machineFile(machine), ...extra], { cwd: work.dir });
}

function output(line: number, script = "jobs.sh"): Promise<string> {
  return work.read(`job_results/${script}.${line}.out`);
}

/** Ends once `count` jobs with this have begun. So these jobs run at the same time. */
function together(count: number): string {
  return `touch ${seen.dir}/$SSHOAL_JOB; until [ $(ls ${seen.dir} | wc -l) -ge ${count} ]; do sleep 0.05; done`;
}

const SHOWN = "echo $CUDA_VISIBLE_DEVICES {gpu}";

test("2.5, 0.5 and 2 cards: whole cards and parts, in started:, in events and in the job", async () => {
  install([{}, {}, {}]);
  const lines = [
    "#@ --gpus-per-job 2.5",
    `${SHOWN}; ${together(2)}`,
    "#@ --gpus-per-job 0.5",
    `${SHOWN}; ${together(2)}`,
    "#@ --gpus-per-job 2",
    `${SHOWN}; ls ${seen.dir}`,
  ];
  const { code, stdout } = await run(lines, "", LIGHT);
  expect([code, stdout]).toEqual([0, expect.stringContaining("3 succeeded, 0 failed")]);
  expect(await output(2)).toBe("0,1,2 0,1,2\n");
  expect(await output(4)).toBe("2 2\n");
  // It had to wait for whole cards, because the others met on all three.
  expect(await output(6)).toBe("0,1 0,1\njobs.sh.2\njobs.sh.4\n");
  expect(stdout).toContain("started: jobs.sh.2;  export CUDA_VISIBLE_DEVICES=0,1,2 && echo $CUDA");
  expect(stdout).toContain("started: jobs.sh.4;  export CUDA_VISIBLE_DEVICES=2 && echo $CUDA");
});

test("halves of one card: two jobs at a time, and job-started names what each got", async () => {
  install([{}]);
  const job = `mkdir ${work.dir}/a || mkdir ${work.dir}/b || exit 9; ${SHOWN} {nvme}; ${together(2)}; rmdir ${work.dir}/a || rmdir ${work.dir}/b`;
  const half = ["--gpus-per-job", "0.5", "--require", "{nvme: 0.5}", "--json"];
  const { code, stdout } = await run(Array(6).fill(job), "resources: {nvme: {fast: 1}}", [...LIGHT, ...half]);
  expect(code, stdout).toBe(0);
  for (const line of [1, 6]) expect(await output(line)).toBe("0 0 fast\n");
  const started = parseEvents(stdout).filter(({ kind }) => kind === "job-started");
  expect(started).toHaveLength(6);
  for (const event of started) expect(event).toMatchObject({ gpus: ["0"], resources: { nvme: ["fast"] } });
});

test("--gpus 0 0 1: two jobs at a time on card 0, one on card 1, also if they are busy", async () => {
  const pid = process.pid;
  install([{ utilization: 90, processes: [{ pid, memory: 200, name: "python" }] }, {}]);
  const job = `echo $CUDA_VISIBLE_DEVICES; ${together(3)}`;
  const { code, stdout } = await run([job, job, job], "", ["--gpus", "0", "0", "1"]);
  expect(code, stdout).toBe(0);
  expect(stdout).toContain("machine gpu choices: [[0, 0, 1]]\n");
  expect((await Promise.all([1, 2, 3].map((line) => output(line)))).sort()).toEqual(["0\n", "0\n", "1\n"]);
});

test("certain cards by model and by size; a need that no machine can meet is left out, with the nearest", async () => {
  install([
    {},
    { name: "NVIDIA A100-SXM4-40GB", memoryTotal: 40960, memoryFree: 40500 },
    // Less than 80 times 1024.
    { name: "NVIDIA A100-SXM4-80GB", memoryTotal: 81559, memoryFree: 81000 },
  ]);
  const lines = [
    "#@ --gpu-model 'H100|a100'",
    `${SHOWN}; ${together(2)}`,
    "#@ --gpu-model 'H100|a100'",
    `${SHOWN}; ${together(2)}`,
    "#@ --gpu-memory-total 80GB",
    SHOWN,
    "#@ --gpu-model H100",
    "echo never",
    "#@ --gpus-per-job 3 --gpu-memory-total 30GB",
    "echo never",
  ];
  const { code, stdout, stderr } = await run(lines, "", LIGHT);
  expect(code).toBe(1);
  expect(stdout).toContain("3 succeeded");
  expect([await output(2), await output(4)].sort()).toEqual(["1 1\n", "2 2\n"]);
  expect(await output(6)).toBe("2 2\n");
  expect(stderr.split("\n").filter((line) => line.includes("has no room"))).toEqual([
    "WARNING: gpu.yaml has no room for line 8: GPU 0, 1, 2: of another model (--gpu-model, now H100); would fit: cards here: NVIDIA GeForce RTX 3090, NVIDIA A100-SXM4-40GB, NVIDIA A100-SXM4-80GB",
    "WARNING: gpu.yaml has no room for line 10: GPU: a job needs 3, suitable: 2 (lower --gpus-per-job, now 3); GPU 0: too small (--gpu-memory-total, now 28610); would fit: 2 cards, or cards with 24 GB",
  ]);
  const sshoal = (...words: string[]) =>
    runCommand(words, { program: "sshoal", cwd: work.dir, home: work.dir });
  expect((await sshoal("status", "--all")).stdout).toMatch(
    /^failed +jobs\.sh +\d+s +\S+ +3 succeeded, 2 left out$/m,
  );
  expect((await sshoal("results")).stdout).toMatch(/^jobs\.sh-\w+: 3 succeeded, 2 left out\n/);
  const why = await sshoal("why");
  expect(why.stdout).toMatch(/^8 waits: needs 1 card \(H100\) /);
  expect(why.stdout.match(/^No machine can ever run it\./gm)).toHaveLength(2);
  expect(await sshoal("wait")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^jobs\.sh: 2 left out, 3 succeeded of 5 in \d+s\n.*2 jobs of jobs\.sh do not go on: no machine can ever meet the need\n.*sshoal why\n$/s,
    ),
  });
});

const RESOURCES = "resources:\n  licence: 2\n  nvme: [1, 0.5]\n  disk: {fast: 1, slow: 4}";

test("resources as a number, a list and names: jobs get instances, and never more than there is", async () => {
  const lines = [
    // All at the same time: every licence, every nvme and both disks are in use then.
    "#@ --require '{licence: 1, nvme: 0.5}'",
    `echo {licence} {nvme}; ${together(3)}`,
    "#@ --require '{licence: 1, nvme: 1}'",
    `echo {licence} {nvme}; ${together(3)}`,
    "#@ --require '{disk: [1, 4]}'",
    `echo {disk}; ${together(3)}`,
    // These wait for the others.
    "#@ --require '{licence: 1.5}'",
    `echo {licence}; ls ${seen.dir} | wc -l`,
    "#@ --require '{disk: 4}'",
    `echo {disk}; ls ${seen.dir} | wc -l`,
  ];
  const { code, stdout, stderr } = await run(lines, RESOURCES, [...LIGHT_NO_GPU]);
  expect(code, stdout + stderr).toBe(0);
  const licences = [await output(2), await output(4)];
  expect(licences.map((text) => text[0]).sort()).toEqual(["0", "1"]);
  expect(licences.map((text) => text.slice(1))).toEqual([" 1\n", " 0\n"]);
  expect((await output(6)).trim().split(",").sort()).toEqual(["fast", "slow"]);
  expect(await output(8)).toMatch(/^(0,1|1,0)\n3\n$/);
  expect(await output(10)).toBe("slow\n3\n");
});

test("names in braces: in commands and values, never after a dollar, only what the job was given", async () => {
  install([{}, {}]);
  const lines = [
    `echo {gpu} "\${gpu}" "{gpu}" '{gpu}' {nvme} "\${nvme}" {licence} {a,b} {} '{"gpu": {gpu}}' $((1+1)){gpu} "$DISK" "$BOTH"`,
    "#@ --no-gpu-required",
    "echo {gpu} {nvme}",
    "#@ --require '{nvme: [1, 0.5]}'",
    "awk 'BEGIN{print \"{nvme}\"}{gpu}' </dev/null",
  ];
  const values = ["--env", "DISK=/mnt/{nvme}", "--env", `BOTH=\${nvme} {gpu}{licence}`];
  const args = [...LIGHT, "--gpus-per-job", "2", "--require", "{nvme: 1}", ...values];
  const first = await run(lines, RESOURCES, args);
  expect(first.code, first.stdout + first.stderr).toBe(0);
  expect(await output(1)).toBe(
    `0,1  0,1 0,1 0  {licence} a b {} {"gpu": 0,1} 20,1 /mnt/0 \${nvme} 0,1{licence}\n`,
  );
  expect(await output(3)).toBe("{gpu} 0\n");
  expect(await output(5)).toBe("0,1\n");
  // A job is its text as written, so its results are found again.
  const second = await again(RESOURCES, args);
  expect(second.code, second.stdout + second.stderr).toBe(0);
  expect(second.stdout).toContain("0 succeeded");
  expect(second.stdout.match(/job results already exists/g)).toHaveLength(3);
});

test("names in the machine file, and in a wrapper, stay as they are written", async () => {
  install([{}]);
  const machine = [
    "env: {TEMPLATE: \"it's {gpu}\", OWN: 'no'}",
    "setup: ['shown() {', '  echo \"{gpu}\" \"$1\"', '}', 'shown setup']",
    "wrap: [env, 'WRAPPED={gpu}']",
  ].join("\n");
  const job = `echo {gpu} "$TEMPLATE" "$OWN" "$WRAPPED" '{''gpu}'`;
  const { code, stdout, stderr } = await run([job], machine, [...LIGHT, "--env", "OWN=card {gpu}"]);
  expect(code, stdout + stderr).toBe(0);
  expect(await output(1)).toBe("{gpu} setup\n0 it's {gpu} card 0 {gpu} {gpu}\n");
});

test("a sweep passes the names of resources through, and replaces its own", async () => {
  install([{}]);
  const typed = ["sweep", "echo {lr} {gpu} {nvme} {other}", "-p", "lr", "0.1", "0.2", "-p", "other", "x"];
  const args = ["--machines", await host.machineFile(RESOURCES), ...LIGHT, "--require", "{nvme: 1}"];
  const words = [...typed, "--run", ...args];
  const { code, stdout, stderr } = await runCommand([...words, "--json"], {
    program: "sshoal",
    cwd: work.dir,
  });
  expect(code, stderr).toBe(0);
  const [started] = parseEvents(stdout);
  expect(started?.jobs.map(({ command }: { command: string }) => command)).toEqual([
    "echo 0.1 {gpu} {nvme} x",
    "echo 0.2 {gpu} {nvme} x",
  ]);
  expect(await output(1, started?.script)).toBe("0.1 0 0 x\n");
  expect(await output(2, started?.script)).toBe("0.2 0 0 x\n");
});

test("jobs from stdin and from a followed file have needs of their own", async () => {
  install([{}, {}]);
  const jobs = [
    "echo {gpu} {licence}",
    "#@ --gpus-per-job 2 --require '{licence: 2}'",
    "echo {gpu} {licence}",
    "#@ --no-gpu-required",
    "echo {gpu}",
    "",
  ].join("\n");
  const args = ["--machines", await host.machineFile(RESOURCES), ...LIGHT];
  const stdin = await runCommand(["-", ...args], { cwd: work.dir, stdin: jobs });
  expect(stdin.code, stdin.stdout + stdin.stderr).toBe(0);
  await work.write("queue", "");
  const follower = spawnCommand(["--follow", "queue", ...args], { cwd: work.dir });
  appendFileSync(work.path("queue"), jobs);
  await follower.until(({ stdout }) => stdout().match(/^finished: /gm)?.length === 3);
  follower.child.kill("SIGINT");
  expect((await follower.ended).code).toBe(130);
  for (const script of ["stdin", "queue"]) {
    expect(await output(1, script)).toMatch(/^[01] \{licence\}\n$/);
    expect(await output(3, script)).toMatch(/^0,1 (0,1|1,0)\n$/);
    expect(await output(5, script)).toBe("{gpu}\n");
  }
});

test("a job that comes later starts on a card that was in use when the batch began", async () => {
  install([{}, { memoryFree: 500 }]);
  await work.write("queue", "");
  const line = `${waitFor(work.path("go"))}; echo {gpu}\n`;
  const args = ["--follow", "queue", "--machines", await host.machineFile(), ...LIGHT];
  const follower = spawnCommand(args, { cwd: work.dir });
  const untilStarted = (count: number) =>
    follower.until(({ stdout }) => stdout().match(/^started: /gm)?.length === count);
  appendFileSync(work.path("queue"), line);
  await untilStarted(1);
  install([{}, {}]);
  appendFileSync(work.path("queue"), line);
  await untilStarted(2);
  await work.write("go", "");
  await follower.until(({ stdout }) => stdout().match(/^finished: /gm)?.length === 2);
  follower.child.kill("SIGINT");
  expect((await follower.ended).code).toBe(130);
  expect([await output(1, "queue"), await output(2, "queue")]).toEqual(["0\n", "1\n"]);
});
