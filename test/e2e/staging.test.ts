// How much goes over the link when the working directory is copied.

import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
let relay: Relay | undefined;

beforeAll(async () => {
  host = await startSshd({ name: "box" });
});
beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(async () => {
  await relay?.stop();
  await work.remove();
});
afterAll(() => host?.stop());

/** Runs `job` and resolves with the bytes that went to the machine. */
async function sentBy(job: string, options: { bytesPerSecond?: number } = {}): Promise<number> {
  await relay?.stop();
  relay = await startRelay(host.port, options);
  await work.write("jobs.sh", `${job}\n`);
  const file = await host.machineFile("", relay);
  const args = ["jobs.sh", "--machines", file, "--rerun", "all", ...LIGHT_NO_GPU];
  const result = await runCommand(args, { cwd: work.dir });
  expect(result.code, result.stdout + result.stderr).toBe(0);
  return relay.bytes();
}

test("nothing of it when nothing changed, and after an edit the edit alone", async () => {
  // What is said beside it.
  const few = 2_000_000;
  for (let n = 0; n < 8; n++) await work.write(`data/${n}`, randomBytes(1_000_000));
  const job = "cat data/* | sha256sum";
  expect(await sentBy(job)).toBeGreaterThan(8_000_000);
  expect(await sentBy(job)).toBeLessThan(few);
  const before = await work.read("job_results/jobs.sh.1.out");
  await work.write("data/7", randomBytes(1_000_000));
  const edited = await sentBy(job);
  expect(edited).toBeGreaterThan(1_000_000);
  expect(edited).toBeLessThan(1_000_000 + few);
  expect(await work.read("job_results/jobs.sh.1.out")).not.toBe(before);
});

test("text is compressed where the link is slow", async () => {
  const bytes = 20_000_000;
  await work.write("log", "epoch 1 of 10, loss 0.123\n".repeat(bytes / 26));
  const job = "wc -c <log";
  expect(await sentBy(job, { bytesPerSecond: 5e6 })).toBeLessThan(bytes / 3);
  expect((await work.read("job_results/jobs.sh.1.out")).trim()).toBe(String(26 * Math.floor(bytes / 26)));
});

test.each([
  ["a little, which may be there before the machine is known to have room", 1000],
  ["much, which is not", 3_000_000],
])("it is told of once the machine gets jobs: %s", async (_, bytes) => {
  await work.write("jobs.sh", "true\n");
  await work.write("data", randomBytes(bytes));
  const args = ["jobs.sh", "--machines", await host.machineFile(), "--json", ...LIGHT_NO_GPU];
  const { code, stdout } = await runCommand(args, { cwd: work.dir });
  expect(code).toBe(0);
  const kinds = stdout
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { kind: string }).kind);
  const told = ["machine-ready", "jobs-assigned", "tree-read", "staging", "staged", "jobs-handed-over"];
  expect([...new Set(kinds.filter((kind) => told.includes(kind)))]).toEqual(told);
});
