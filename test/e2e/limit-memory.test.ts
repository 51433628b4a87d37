// `--limit-memory` where systemd cannot do it. test/unit/remote/slot-script-limit.test.ts tries real limits.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let box: Workspace;
let work: Workspace;

beforeAll(async () => {
  box = await makeWorkspace({ "bin/systemd-run": '#!/bin/sh\necho "$*" >> "$HOME/scopes"\nexit 1\n' });
  host = await startSshd({ name: "box", path: [box.path("bin")] });
});
beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(() => work.remove());
afterAll(async () => {
  await host?.stop();
  await box.remove();
});

test("jobs run, and the machine is named once; doctor finds out before", async () => {
  await work.write("jobs.sh", "echo one\necho two\necho three\n");
  const file = await host.machineFile("max_jobs: 2");
  const args = ["jobs.sh", "--machines", file, ...LIGHT_NO_GPU, "--limit-memory", "--json"];
  const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
  expect(code, stdout + stderr).toBe(0);
  const warnings = parseEvents(stdout).filter(
    ({ kind, message }) => kind === "warning" && /limit/.test(message),
  );
  expect(warnings.map(({ message }) => message)).toEqual([
    "box.yaml: jobs run without a memory limit: systemd-run --user does not work (--limit-memory)",
  ]);
  const doctor = ["doctor", "--machines", file, ...LIGHT_NO_GPU];
  const checks = await runCommand([...doctor, "--limit-memory"], { cwd: work.dir, program: "sshoal" });
  expect(checks.stdout).toMatch(/memory limit.*--limit-memory has no effect/);
  const unasked = await runCommand(doctor, { cwd: work.dir, program: "sshoal" });
  expect(unasked.stdout).not.toContain("memory limit");
});
