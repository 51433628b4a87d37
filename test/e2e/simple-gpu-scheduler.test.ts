// simple_gpu_scheduler: the documented behaviour of that tool, by our command of the same name.

import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runCommand, spawnCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";
import { until } from "../rig/until.js";

const own = useOwnHome();

const options = () => ({ cwd: own.work.dir, home: own.home.dir, program: "simple-gpu-scheduler" as const });

test.each([[["--gpus", "0", "1", "2"]], [["--gpus", "0,1,2"]]])(
  "%j: each command on one card, and its line",
  async (args) => {
    const stdin = [1, 2, 3].map((run) => `echo $CUDA_VISIBLE_DEVICES > run_${run}\n`).join("");
    const { code, stdout } = await runCommand(args, { ...options(), stdin });
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    for (const run of [1, 2, 3]) {
      const card = (await own.work.read(`run_${run}`)).trim();
      expect(["0", "1", "2"]).toContain(card);
      expect(lines).toContain(
        `Processing command \`echo $CUDA_VISIBLE_DEVICES > run_${run}\` on gpu ${card}`,
      );
    }
  },
);

test("--gpus 0,1 2,3: each command on a pair of cards", async () => {
  const stdin = [1, 2].map((run) => `echo $CUDA_VISIBLE_DEVICES > run_${run}\n`).join("");
  const { code, stdout } = await runCommand(["--gpus", "0,1", "2,3"], { ...options(), stdin });
  expect(code).toBe(0);
  for (const run of [1, 2]) {
    const cards = (await own.work.read(`run_${run}`)).trim();
    expect(["0,1", "2,3"]).toContain(cards);
    expect(stdout).toContain(`> run_${run}\` on gpu ${cards}\n`);
  }
});

test("shell features work, and output of commands is on the screen", async () => {
  const stdin = "echo out | tr o O; echo err >&2\necho > file && exit 3\n";
  const { code, stdout, stderr } = await runCommand(["--gpus", "0"], { ...options(), stdin });
  expect(code).toBe(1);
  expect(stdout.split("\n")).toContain("Out");
  expect(stderr.split("\n")).toContain("err");
  expect(stderr).toMatch(/\n\S 2 {2}exit 3 {2}/);
});

test("tail -f -n 0 gpu.queue: earlier lines do not run; appended ones start at once", async () => {
  const queue = await own.work.write("gpu.queue", "echo before >> ran\n");
  const tail = spawn("tail", ["-f", "-n", "0", queue], { stdio: ["ignore", "pipe", "inherit"] });
  const command = spawnCommand(["--gpus", "0"], options());
  tail.stdout.pipe(command.child.stdin);
  // Until tail is at the end of the file, a new line would count as an earlier one.
  await until("tail reads the file", async () => {
    appendFileSync(queue, "echo first >> ran\n");
    return (await own.work.read("ran").catch(() => "")).startsWith("first\n");
  });
  appendFileSync(queue, "echo last >> ran\n");
  await until("the last has run", async () => (await own.work.read("ran")).endsWith("last\n"));
  tail.kill();
  expect((await command.ended).code).toBe(0);
  expect(await own.work.read("ran")).not.toContain("before");
});

test("commands of simple_hypersearch", async () => {
  const search = await runCommand(
    [
      "echo {lr} {bs} > {lr}-{bs}",
      "--n-samples",
      "3",
      "--seed",
      "1",
      "-p",
      "lr",
      "0.1",
      "0.2",
      "-p",
      "bs",
      "32",
      "64",
    ],
    { ...options(), program: "simple-hypersearch" },
  );
  const { code, stdout } = await runCommand(["--gpus", "0,1"], { ...options(), stdin: search.stdout });
  expect(code).toBe(0);
  const ran = [...stdout.matchAll(/^Processing command `(.*)` on gpu [01]$/gm)].map(([, command]) => command);
  expect(ran.sort()).toEqual(search.stdout.trimEnd().split("\n").sort());
});

test("without --gpus it prints what to type", async () => {
  const { code, stderr } = await runCommand([], { ...options(), stdin: "true\n" });
  expect(code).toBe(2);
  expect(stderr).toBe("error: which GPUs?\ntry: simple_gpu_scheduler --gpus 0 1 2 < gpu_commands.txt\n");
});
