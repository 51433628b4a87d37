// A slow `rm` on the machine that removes the claims of jobs first: no finished job begins again.

import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { openLedger } from "../rig/ledger.js";
import { startSshd, type TestHost } from "../rig/sshd.js";

const SLOW_RM = `#!/bin/sh
for path; do
  case $path in -*) continue ;; esac
  [ ! -d "$path" ] || { /bin/rm -f "$path/claim" && /bin/sleep 0.02; }
done
exec /bin/rm "$@"
`;

let host: TestHost;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
  await writeFile(join(host.binDir, "rm"), SLOW_RM);
  await chmod(join(host.binDir, "rm"), 0o755);
});
afterAll(() => host?.stop());

test("jobs that are collected while others run do not run again", async () => {
  const ledger = await openLedger();
  await ledger.write(Array.from({ length: 120 }, () => ledger.job()));
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 4"), ...LIGHT_NO_GPU];
  const { code, stdout, stderr } = await runCommand(args, { cwd: ledger.work.dir });
  expect(await ledger.audit([host]), stdout + stderr).toEqual([]);
  expect(code).toBe(0);
  await ledger.remove();
});
