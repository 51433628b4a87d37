// What jobs use: measured on the machine, and shown by every command that shows jobs.

import { readFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { parseEvents } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "box" });
});
beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(() => work.remove());
afterAll(() => host?.stop());

const sshoal = (...args: string[]) => runCommand(args, { program: "sshoal", cwd: work.dir });

test("what a job used is in events, status, results and the summary; of a short job it is unknown", async () => {
  // It holds 150 MB until the sampler has seen them.
  const holds = `perl -e 'vec(my $held, (150 << 20) - 1, 8) = 1; select(undef, undef, undef, 0.05) until -e $ARGV[0]'`;
  const seen = `until grep -q ' ' "\${SSHOAL_RESULTS%/work}/peak" 2>/dev/null; do sleep 0.05; done`;
  await work.write("jobs.sh", `${holds} done & ${seen}; touch done; wait\n${"true\n".repeat(9)}`);
  // So much that only one fits.
  const [, kb = ""] = /^MemAvailable: *(\d+)/m.exec(await readFile("/proc/meminfo", "utf8")) ?? [];
  const needed = Math.floor((Number(kb) / 1024) * 0.55);
  const need = ["--num-cpus", "0.01", "--no-gpu-required", "--memory-required", String(needed)];
  const { code, stdout, stderr } = await runCommand(
    ["jobs.sh", "--machines", await host.machineFile(), ...need, "--json"],
    { cwd: work.dir },
  );
  expect(code, stdout + stderr).toBe(0);
  const events = parseEvents(stdout);
  const of = (kind: string, job: number) => events.find((event) => event.kind === kind && event.job === job);
  const { footprint } = of("job-ended", 1) ?? {};
  expect(footprint).toEqual({ memoryMb: expect.any(Number), cpuMs: expect.any(Number) });
  expect(footprint.memoryMb).toBeGreaterThanOrEqual(150);
  expect(of("job-collected", 1)?.footprint).toEqual(footprint);
  expect(of("job-ended", 2)).not.toHaveProperty("footprint");
  const [advice] = events.at(-1)?.needs ?? [];
  expect(advice).toMatchObject({ what: "memory", neededMb: needed, peakMb: footprint.memoryMb });

  const [first, second] = parseEvents((await sshoal("status", "--json")).stdout);
  expect([first?.footprint, second?.footprint]).toEqual([footprint, undefined]);
  const [row, short] = parseEvents((await sshoal("results", "--json")).stdout);
  expect([row?.memoryMb, row?.cpuMs, row?.gpuMemoryMb]).toEqual([footprint.memoryMb, footprint.cpuMs, null]);
  expect([short?.memoryMb, short?.cpuMs]).toEqual([null, null]);
  expect((await sshoal("results")).stdout).toMatch(/^job .* cpu_seconds {2}memory_mb {2}machine/m);
  await until("nothing is left", () => host.pids().length === 0);
});
