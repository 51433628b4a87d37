// Jobs that empty their own output: fetched output stays, and new output is added.

import { afterEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { endLiveCommands, startCommand } from "../rig/live-commands.js";
import { useMachine } from "../rig/one-machine.js";
import { killAll } from "../rig/processes.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const { host, work, seen } = useMachine(() => startSshd({ name: "box" }));

afterEach(() => {
  endLiveCommands();
  killAll(host.pids());
});

const sshoal = () => ({ program: "sshoal", cwd: work.dir }) as const;
const file = (stream: "out" | "err") => work.read(`job_results/jobs.sh.1.${stream}`).catch(() => "");
const here = (stream: "out" | "err", text: string) =>
  until(`${JSON.stringify(text)} is here`, async () => (await file(stream)) === text);
const pause = (name: string) => waitFor(seen.path(name));

async function argsFor(job: string): Promise<string[]> {
  await work.write("jobs.sh", `${job}\n`);
  return ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
}

/** Each part is printed, and emptied, when the part before it was fetched; the last with the end of the job. */
test.each([
  ["less than before", "a long beginning", ["short", "er"]],
  ["more than before", "begun", ["much longer than what was there before", "and more"]],
  ["as much as before", "step 1", ["step 2", "step 3", "step 4"]],
  ["nothing", "begun", ["", "end"]],
])("fetched output stays when a job replaces it by %s", async (_, first, parts) => {
  const steps = parts.map((part, n) => `${pause(`go-${n}`)}; printf '${part}' > /dev/stdout`);
  const command = startCommand(await argsFor(`printf '${first}'; ${steps.join("; ")}`), { cwd: work.dir });
  let text = first;
  for (const [n, part] of parts.entries()) {
    await here("out", text);
    await seen.write(`go-${n}`, "");
    text += part;
  }
  const { code, stdout, stderr } = await command.ended;
  expect(code, stdout + stderr).toBe(0);
  expect(await file("out")).toBe(text);
});

test("stderr, with --tee: each line is printed once", async () => {
  const job = `echo one >&2; ${pause("go")}; echo two | tee /dev/stderr; ${pause("on")}; echo three >&2`;
  const command = startCommand([...(await argsFor(job)), "--tee"], { cwd: work.dir });
  await here("err", "one\n");
  await seen.write("go", "");
  await here("err", "one\ntwo\n");
  await seen.write("on", "");
  const { code, stdout, stderr } = await command.ended;
  expect(code).toBe(0);
  expect(await file("err")).toBe("one\ntwo\nthree\n");
  expect(await file("out")).toBe("two\n");
  const told = stderr.split("\n").filter((line) => line.startsWith("jobs.sh.1: "));
  expect(told).toEqual(["one", "two", "three"].map((word) => `jobs.sh.1: ${word}`));
  expect(stdout).toContain("jobs.sh.1: two\n");
});

test("a client that resumes adds new output, and nothing twice; so does sshoal logs", async () => {
  const job = `echo one; ${pause("a")}; echo two > /dev/stdout; ${pause("b")}; echo three`;
  const args = await argsFor(job);
  const first = startCommand(args, { cwd: work.dir });
  await here("out", "one\n");
  await seen.write("a", "");
  await here("out", "one\ntwo\n");
  first.child.kill("SIGTERM");
  await first.ended;
  expect(await runCommand(["logs", "1"], sshoal())).toMatchObject({ code: 0, stdout: "one\ntwo\n" });
  const logs = startCommand(["logs", "-f", "1"], sshoal());
  await logs.until(({ stdout }) => stdout() === "one\ntwo\n");
  await seen.write("b", "");
  expect(await logs.ended).toMatchObject({ code: 0, stdout: "one\ntwo\nthree\n" });
  const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
  expect(code, stdout + stderr).toBe(0);
  expect(await file("out")).toBe("one\ntwo\nthree\n");
});

test("sshoal logs that reads from a machine continues when the job empties its output", async () => {
  const job = `echo a long beginning; ${pause("a")}; echo short > /dev/stdout; ${pause("b")}; echo end`;
  expect((await runCommand([...(await argsFor(job)), "--detach"], { cwd: work.dir })).code).toBe(0);
  const logs = startCommand(["logs", "-f", "1"], sshoal());
  await logs.until(({ stdout }) => stdout() === "a long beginning\n");
  await seen.write("a", "");
  await logs.until(({ stdout }) => stdout() === "a long beginning\nshort\n");
  await seen.write("b", "");
  expect(await logs.ended).toMatchObject({ code: 0, stdout: "a long beginning\nshort\nend\n" });
});
