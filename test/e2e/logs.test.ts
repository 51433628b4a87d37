// `sshoal logs`: the output of a job, byte by byte, at every stage.

import { expect, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { useMachine } from "../rig/one-machine.js";
import { startRelay } from "../rig/relay.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const { host, work, seen } = useMachine(() => startSshd({ name: "one" }));

const sshoal = () => ({ program: "sshoal", cwd: work.dir }) as const;
const logs = (...args: string[]) => runCommand(["logs", ...args], sshoal());

async function batch(...lines: string[]): Promise<string[]> {
  await work.write("jobs.sh", lines.map((line) => `${line}\n`).join(""));
  return ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
}

test("of a followed job: so far, to its end, and afterwards", async () => {
  const args = await batch(
    `echo first; echo oops >&2; ${waitFor(seen.path("go"))}; echo last`,
    "echo second",
  );
  const client = spawnCommand(args, { cwd: work.dir });
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  await until(
    "its words are here",
    async () => (await work.read("job_results/jobs.sh.1.err").catch(() => "")) === "oops\n",
  );
  expect(await logs("1")).toMatchObject({ code: 0, stdout: "first\n==> stderr <==\noops\n", stderr: "" });
  expect(await logs("1", "--out")).toMatchObject({ code: 0, stdout: "first\n" });
  expect(await logs("jobs.sh.1", "--err")).toMatchObject({ code: 0, stdout: "oops\n" });
  expect(await logs("2")).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "jobs.sh.2 has not started: it waits on one.yaml\n",
  });

  const first = spawnCommand(["logs", "-f", "jobs.sh.1"], sshoal());
  const second = spawnCommand(["logs", "--follow", "2"], sshoal());
  await first.until(({ stdout }) => stdout() === "first\noops\n");
  await second.until(({ stderr }) => stderr().includes("has not started"));
  await seen.write("go", "");
  expect(await first.ended).toMatchObject({ code: 0, stdout: "first\noops\nlast\n" });
  expect(await second.ended).toMatchObject({ code: 0, stdout: "second\n" });
  expect((await client.ended).code).toBe(0);
  expect(await logs("-f", "1", "--out")).toMatchObject({ code: 0, stdout: "first\nlast\n", stderr: "" });
});

test("of a detached job: directly from its machine, to its end, and nothing is written locally", async () => {
  const args = await batch(
    `printf '\\000\\377\\n'; echo oops >&2; echo x > ${seen.dir}/began; ${waitFor(seen.path("go"))}; echo last`,
    "echo second",
  );
  expect((await runCommand([...args, "--detach"], { cwd: work.dir })).code).toBe(0);
  await until("it has begun", () => seen.read("began").catch(() => null));
  const soFar = Buffer.from([0, 255, 10]).toString();
  expect(await logs("1")).toMatchObject({ code: 0, stdout: `${soFar}==> stderr <==\noops\n`, stderr: "" });
  expect(await logs("1", "--err")).toMatchObject({ code: 0, stdout: "oops\n" });
  expect(await logs("2")).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "jobs.sh.2 has not started: it waits on one.yaml\n",
  });

  const first = spawnCommand(["logs", "-f", "1", "--out"], sshoal());
  const second = spawnCommand(["logs", "-f", "2"], sshoal());
  await first.until(({ stdout }) => stdout() === soFar);
  await second.until(({ stderr }) => stderr().includes("has not started"));
  await seen.write("go", "");
  expect(await first.ended).toMatchObject({ code: 0, stdout: `${soFar}last\n` });
  expect(await second.ended).toMatchObject({ code: 0, stdout: "second\n" });
  // Its results are still on the machine, and so is its output.
  expect(await logs("1", "--out")).toMatchObject({ code: 0, stdout: `${soFar}last\n` });
  await expect(work.read("job_results/jobs.sh.1.out")).rejects.toThrow("ENOENT");

  expect((await runCommand(args, { cwd: work.dir })).code).toBe(0);
  expect(await logs("1", "--out")).toMatchObject({ code: 0, stdout: `${soFar}last\n`, stderr: "" });
});

test("several jobs at once, by number, range, name, glob and state: from machines, from the local disk, and to their end", async () => {
  const args = await batch(
    "echo one; echo oops >&2; exit 1",
    "seq 1 30; printf 'no end'",
    `echo begun; echo worse >&2; ${waitFor(seen.path("go"))}; echo done`,
    "echo four",
  );
  expect((await runCommand([...args, "--detach"], { cwd: work.dir })).code).toBe(0);
  await until("the third one runs", async () => (await logs("3", "--err")).stdout === "worse\n");
  const two = "==> jobs.sh.1 <==\none\n==> jobs.sh.1 stderr <==\noops\n==> jobs.sh.2 <==\n29\n30\nno end";
  for (const words of [
    ["1", "2"],
    ["1-2"],
    ["jobs.sh.2", "jobs.sh.1"],
    ["[12]"],
    ["--state", "failed,succeeded"],
  ])
    expect(await logs(...words, "--tail", "3"), `${words}`).toMatchObject({
      code: 0,
      stdout: two,
      stderr: "",
    });
  expect(await logs("--state", "running")).toMatchObject({ stdout: "begun\n==> stderr <==\nworse\n" });

  const following = spawnCommand(["logs", "-f", "1", "3"], sshoal());
  await following.until(({ stdout }) => stdout().includes("jobs.sh.3: worse\n"));
  await seen.write("go", "");
  const { code, stdout } = await following.ended;
  expect(code).toBe(0);
  const of = (name: string) => stdout.split("\n").filter((line) => line.startsWith(`${name}: `));
  expect(of("jobs.sh.1").sort()).toEqual(["jobs.sh.1: one", "jobs.sh.1: oops"]);
  expect(of("jobs.sh.3")).toEqual(["jobs.sh.3: begun", "jobs.sh.3: worse", "jobs.sh.3: done"]);

  expect((await runCommand(args, { cwd: work.dir })).code).toBe(1);
  expect(await logs("1-2", "--tail", "3")).toMatchObject({ code: 0, stdout: two, stderr: "" });
  expect(await logs("2", "--tail", "0")).toMatchObject({ code: 0, stdout: "" });
  expect(await logs("5-9")).toMatchObject({
    code: 2,
    stderr: "error: there is no job 5-9 here\ntry: did you mean jobs.sh.4 or jobs.sh.3 or jobs.sh.2?\n",
  });
  expect(await logs("1", "--state", "waiting")).toMatchObject({
    code: 2,
    stderr: "error: no job of 1 is waiting\ntry: sshoal status\n",
  });
});

test("following outlives the client that fetched the output", async () => {
  const args = await batch(`echo first; ${waitFor(seen.path("go"))}; echo last`);
  const client = spawnCommand(args, { cwd: work.dir });
  await until(
    "its first words are here",
    async () => (await work.read("job_results/jobs.sh.1.out").catch(() => "")) === "first\n",
  );
  const following = spawnCommand(["logs", "-f", "1"], sshoal());
  await following.until(({ stdout }) => stdout() === "first\n");
  client.child.kill("SIGKILL");
  await client.ended;
  await seen.write("go", "");
  expect(await following.ended).toMatchObject({ code: 0, stdout: "first\nlast\n", stderr: "" });
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(0);
});

test("after a cut connection it continues, and nothing is shown twice", async () => {
  const relay = await startRelay(host.port);
  const file = `username: ${host.username}\nip: 127.0.0.1\nport: ${relay.port}\nssh_key_path: ${host.keyPath}\nmax_jobs: 1\n`;
  await work.write("far.yaml", file);
  await work.write("jobs.sh", `echo first; ${waitFor(seen.path("go"))}; echo last\n`);
  const args = ["jobs.sh", "--machines", work.path("far.yaml"), ...LIGHT_NO_GPU];
  expect((await runCommand([...args, "--detach"], { cwd: work.dir })).code).toBe(0);
  const following = spawnCommand(["logs", "-f", "1"], sshoal());
  await following.until(({ stdout }) => stdout() === "first\n");
  relay.cut();
  await following.until(({ stderr }) => stderr().includes("the link to far.yaml is back"));
  await seen.write("go", "");
  const { code, stdout, stderr } = await following.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "first\nlast\n" });
  expect(stderr).toMatch(
    /^the link to far\.yaml is lost: .*; trying again\nthe link to far\.yaml is back\n$/,
  );
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(0);
  await relay.stop();
});

test("much output passes unchanged, and a reader that leaves early is no error", async () => {
  const args = await batch("seq 1 900000");
  expect((await runCommand([...args, "--detach"], { cwd: work.dir })).code).toBe(0);
  await until("it has ended", () => host.pids().length === 0);
  const whole = Array.from({ length: 900_000 }, (_, index) => `${index + 1}\n`).join("");
  const { code, stdout } = await logs("1");
  expect(code).toBe(0);
  expect(stdout === whole).toBe(true);

  const left = spawnCommand(["logs", "1"], sshoal());
  await left.until(({ stdout }) => stdout() !== "");
  left.child.stdout.destroy();
  expect(await left.ended).toMatchObject({ code: 0, stderr: "" });
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(0);
});

test("a job that does not exist: what to type instead; an unreachable machine: the output so far", async () => {
  const gone = await startSshd({ name: "gone" });
  await work.write("jobs.sh", `echo first; ${waitFor(seen.path("go"))}\n`);
  const args = ["jobs.sh", "--machines", await gone.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  const client = spawnCommand(args, { cwd: work.dir });
  await until(
    "its first words are here",
    async () => (await work.read("job_results/jobs.sh.1.out").catch(() => "")) === "first\n",
  );
  expect(await logs("jobs.sh.7")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: "error: there is no job jobs.sh.7 here\ntry: did you mean jobs.sh.1?\n",
  });
  client.child.kill("SIGKILL");
  await client.ended;
  await gone.stop();
  const unreached = await logs("1");
  expect(unreached).toMatchObject({ code: 3, stdout: "first\n" });
  expect(unreached.stderr).toMatch(/^error: gone\.yaml cannot be reached: .*\ntry: /);
});
