// `wrap:` and `--wrap`: each job runs inside another command, such as a container.

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { useMachine } from "../rig/one-machine.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const { host, work, seen } = useMachine(() => startSshd({ name: "box" }));

/** Stays beside the job, as container programs do, and hides the environment from it. */
function container(): Promise<string> {
  return seen.write("container", '#!/bin/sh\nenv -i PATH="$PATH" "$@" &\nwait $!\n');
}

async function run(script: string, machine: string, ...args: string[]) {
  await work.write("jobs.sh", script);
  const file = await host.machineFile(`max_jobs: 1\n${machine}`);
  return runCommand(["jobs.sh", "--machines", file, ...LIGHT_NO_GPU, ...args], { cwd: work.dir });
}

const out = (line: number) => work.read(`job_results/jobs.sh.${line}.out`);

test("a job takes precedence over the command line, and that over the machine file", async () => {
  const script = `echo "$A"\n#@ --wrap 'env A=job'\necho "$A"\n#@ --wrap ''\necho "[$A]"\n`;
  const { code, stdout, stderr } = await run(
    script,
    "wrap: [env, A=machine]",
    "--wrap",
    "env 'A=typed here'",
  );
  expect(code, stdout + stderr).toBe(0);
  expect([await out(1), await out(3), await out(5)]).toEqual(["typed here\n", "job\n", "[]\n"]);
  expect((await run(script, "wrap: [env, A=machine]", "--rerun", "all")).code).toBe(0);
  expect([await out(1), await out(3), await out(5)]).toEqual(["machine\n", "job\n", "[]\n"]);
  expect((await run(script, "wrap: [env, A=machine]", "--rerun", "all", "--wrap", "")).code).toBe(0);
  expect(await out(1)).toBe("\n");
});

test("results, output and exit code of a job inside come back", async () => {
  const script = `echo "it's \\$HOME"; echo wrong >&2; echo 1 > made; exit 9\n`;
  const { code } = await run(script, `wrap: [${await container()}, nice]`);
  expect(code).toBe(1);
  expect(await out(1)).toBe("it's $HOME\n");
  expect(await work.read("job_results/jobs.sh.1.err")).toBe("wrong\n");
  expect(await work.read("job_results/jobs.sh.1/made")).toBe("1\n");
  const status = await runCommand(["status", "--json"], { cwd: work.dir, program: "sshoal" });
  expect(status.stdout).toContain('"code":9');
});

test("a wrapper that is missing fails the job with 127 and its name", async () => {
  const { code, stdout } = await run("echo ran\n", "wrap: [no-such-container, exec]");
  expect(code).toBe(1);
  expect(stdout).toMatch(/exit 127.*there is no no-such-container on box\.yaml/);
  const doctor = await runCommand(
    ["doctor", "--machines", await host.machineFile("wrap: [no-such-container]")],
    {
      cwd: work.dir,
      program: "sshoal",
    },
  );
  expect(doctor.stdout).toMatch(/setup.*there is no no-such-container/);
});

test("a wrong wrap: is an error with its place", async () => {
  const { code, stderr } = await run("true\n", "wrap: apptainer exec image.sif");
  expect(code).toBe(2);
  expect(stderr).toMatch(/box\.yaml:\d+:7: wrap must be a list of words/);
});

/** The rig knows processes by their environment, which the container hides. */
async function untilNothingIsLeft(): Promise<void> {
  const pid = (await seen.read("began")).trim();
  expect(pid).toMatch(/^\d+$/);
  await until("nothing is left", () => host.pids().length === 0 && !existsSync(`/proc/${pid}`));
}

const waits = () => `echo $$ > ${seen.path("began")}; ${waitFor(seen.path("never"))}`;

test("stop ends a job inside, and its wrapper", async () => {
  await work.write("jobs.sh", `${waits()}\n`);
  const file = await host.machineFile(`wrap: [${await container()}, nice]`);
  const args = ["jobs.sh", "--machines", file, ...LIGHT_NO_GPU, "--detach"];
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(0);
  await until("it runs", async () => /\d/.test(await seen.read("began").catch(() => "")));
  const stopped = await runCommand(["stop", "jobs.sh"], { cwd: work.dir, program: "sshoal" });
  expect(stopped).toMatchObject({ code: 0 });
  await untilNothingIsLeft();
});

test("a time limit ends a job inside, and its wrapper", async () => {
  const { code, stdout } = await run(`${waits()}\n`, `wrap: [${await container()}, nice]`, "--timeout", "1s");
  expect(code).toBe(1);
  expect(stdout).toContain("timed out");
  await untilNothingIsLeft();
});
