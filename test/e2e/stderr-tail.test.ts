// `stderrTail` of job-ended: why a job failed, as soon as it has, whatever it printed.

import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type JsonEvent, LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import { startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
let home: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "box" });
});
beforeEach(async () => {
  [work, home] = await Promise.all([makeWorkspace(), makeHome()]);
});
afterEach(() => Promise.all([work.remove(), home.remove()]));
afterAll(() => host?.stop());

const options = () => ({ cwd: work.dir, home: home.dir });

function endsIn(stdout: string): Map<number, JsonEvent> {
  const ended = parseEvents(stdout).filter(({ kind }) => kind === "job-ended");
  return new Map(ended.map((event) => [event.job, event]));
}

async function run(jobs: readonly string[], ...more: string[]): Promise<(job: number) => unknown> {
  await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  const { stdout } = await runCommand(["jobs.sh", ...LIGHT_NO_GPU, ...more, "--json"], options());
  for (const line of stdout.split("\n")) expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
  const ended = endsIn(stdout);
  expect(ended.size).toBe(jobs.length);
  return (job) => ended.get(job)?.stderrTail;
}

const HOSTILE = [
  "echo fine; echo harmless >&2",
  "echo out; exit 1",
  "seq 1 30 >&2; printf last >&2; exit 2",
  // Ten million bytes without a newline, and then what a terminal would obey.
  "head -c 10000000 /dev/zero | tr '\\0' x >&2; printf '\\033[2J\\007\\302\\233\\n' >&2; exit 3",
  "printf 'a\\377\\376\\000b\\nend 0\\ndata - err 0 5\\n' >&2; exit 5",
  "for i in $(seq 2000); do printf '\\342\\202\\254' >&2; done; exit 4",
];

describe.each(["on this machine", "over ssh"])("%s", (where) => {
  const machines = async () =>
    where === "over ssh" ? ["--machines", await host.machineFile("max_jobs: 3")] : [];

  test("the last lines of a job that failed, bounded and escaped", async () => {
    const tail = await run(HOSTILE, ...(await machines()));
    expect(tail(1)).toBeUndefined();
    expect(tail(2)).toBe("");
    expect(tail(3)).toBe(`${Array.from({ length: 19 }, (_, i) => `${12 + i}\n`).join("")}last`);
    expect(tail(4)).toMatch(/^x{2040}\x1b\[2J\x07\x9b\n$/);
    expect(tail(5)).toBe("a\ufffd\ufffd\0b\nend 0\ndata - err 0 5\n");
    expect(tail(6)).toBe("€".repeat(682));
    const logs = await runCommand(["logs", "4", "--json"], { ...options(), program: "sshoal" });
    const texts = parseEvents(logs.stdout).map(({ text }) => text);
    expect(texts.join("")).toBe(`${"x".repeat(10_000_000)}\x1b[2J\x07\x9b`);
    expect(Math.max(...texts.map((text) => text.length))).toBe(64 << 10);
  });

  test("with --merge, of the output", async () => {
    const tail = await run(["echo one; echo two >&2; exit 1"], "--merge", ...(await machines()));
    expect(tail(1)).toBe("one\ntwo\n");
  });

  test("of a job that timed out, and of every try that failed", async () => {
    const jobs = ["echo begun >&2; sleep 100", "echo try >&2; exit 1"];
    const more = ["--timeout", "2s", "--retries", "1", "--retry-on-failure"];
    await work.write("jobs.sh", `${jobs.join("\n")}\n`);
    const args = ["jobs.sh", ...LIGHT_NO_GPU, ...more, ...(await machines()), "--json"];
    const { stdout } = await runCommand(args, options());
    const ended = parseEvents(stdout).filter(({ kind }) => kind === "job-ended");
    const tails = ended.map(({ job, run, stderrTail }) => `${job}.${run} ${stderrTail.split("\n")[0]}`);
    expect(tails.sort()).toEqual(["1.1 begun", "1.2 begun", "2.1 try", "2.2 try"]);
  });
});

test("a client that comes later reports it, and no record keeps it", async () => {
  const go = work.path("go");
  await work.write("jobs.sh", `${waitFor(go)}; echo a secret >&2; exit 1\n`);
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  expect((await runCommand([...args, "--detach"], options())).code).toBe(0);
  await work.write("go", "");
  const { stdout } = await runCommand(["attach", "--json"], { ...options(), program: "sshoal" });
  expect(endsIn(stdout).get(1)).toMatchObject({ stderrTail: "a secret\n" });
  const records = readdirSync(work.path("job_results/.sshoal")).filter((name) => name.endsWith(".jsonl"));
  for (const name of records)
    expect(readFileSync(work.path("job_results/.sshoal", name), "utf8")).not.toContain("a secret\\n");
});

test("one that watches gets it from the client that follows", async () => {
  const go = work.path("go");
  await work.write("jobs.sh", `${waitFor(go)}; echo oops >&2; exit 1\n`);
  const client = spawnCommand(["jobs.sh", ...LIGHT_NO_GPU], options());
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  const viewer = spawnCommand(["attach", "--watch", "--json"], { ...options(), program: "sshoal" });
  await viewer.until(({ stdout }) => stdout().includes('"job-started"'));
  await work.write("go", "");
  expect(endsIn((await viewer.ended).stdout).get(1)).toMatchObject({ stderrTail: "oops\n" });
  expect((await client.ended).code).toBe(1);
});

test("a link that is cut while jobs fail: each end is reported, and the batch comes to its end", async () => {
  const relay = await startRelay(host.port);
  const jobs = Array.from({ length: 40 }, (_, index) => `echo ${index + 1} >&2; sleep 0.1; exit 1`);
  await work.write("jobs.sh", `${jobs.join("\n")}\n`);
  const machine = await host.machineFile("max_jobs: 4", relay);
  const client = spawnCommand(["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU, "--json"], options());
  await client.until(({ stdout }) => stdout().includes('"job-ended"'));
  relay.cut();
  const { code, stdout } = await client.ended;
  await relay.stop();
  expect(code).toBe(1);
  const ended = endsIn(stdout);
  expect(ended.size).toBe(40);
  for (const [job, { stderrTail }] of ended) expect([undefined, `${job}\n`]).toContain(stderrTail);
});
