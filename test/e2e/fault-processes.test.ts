// A machine at its process limit: the client never waits in silence, and other machines run what that machine cannot.

import { execFileSync } from "node:child_process";
import { chmod, chown } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { LIGHT_NO_GPU, listBelow, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { type Ledger, openLedger, sweep } from "../rig/ledger.js";
import { killAll } from "../rig/processes.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const isRoot = process.getuid?.() === 0;
if (!isRoot)
  console.warn("SKIPPED: tests of process limits, since only root can give a session another account");

let wide: TestHost;
let ledger: Ledger;

beforeAll(async () => {
  wide = await startSshd({ name: "wide" });
});
beforeEach(async () => {
  ledger = await openLedger();
});
afterEach(async () => {
  await sweep(wide);
  await ledger.remove();
});
afterAll(() => wide?.stop());

async function argsFor(...hosts: readonly TestHost[]): Promise<string[]> {
  const files = await Promise.all(
    hosts.map((host) => host.machineFile(`max_jobs: ${host === wide ? 1 : 2}`)),
  );
  return ["jobs.sh", "--machines", ...files, ...LIGHT_NO_GPU, "--reassign-after", "3s"];
}

describe.skipIf(!isRoot)("with this many processes allowed", () => {
  /** A separate account: the limit counts all processes of one account, wherever they run. */
  const uid = 200_000 + process.pid;
  let box: Workspace;
  let tight: TestHost;

  beforeAll(async () => {
    box = await makeWorkspace();
    tight = await startSshd({ name: "tight", username: "root", loginShell: box.path("sh") });
    await Promise.all([chmod(box.dir, 0o755), chmod(tight.dir, 0o755), chown(tight.homeDir, uid, uid)]);
  });
  afterAll(async () => {
    await tight?.stop();
    await box?.remove();
  });

  async function allow(processes: number): Promise<void> {
    const asOther = `setpriv --reuid=${uid} --regid=${uid} --clear-groups`;
    await box.write("sh", `#!/bin/sh\nexec prlimit --nproc=${processes} ${asOther} /bin/sh "$@"\n`);
  }

  // Each of these fails at other steps: the login, probing, copying, handing over, the slots, following, collecting.
  test.each([1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 16])(
    "%i: the client ends, and each job has a result",
    async (processes) => {
      await allow(processes);
      await chmod(ledger.seen.dir, 0o777);
      await ledger.seen.write("runs", "");
      await chmod(ledger.seen.path("runs"), 0o666);
      await ledger.write(
        Array.from({ length: 12 }, (_, index) => ledger.job(index % 4 === 0 ? "sleep 0.2" : ":")),
      );
      onTestFinished(() => {
        killAll(tight.pids());
        execFileSync("rm", ["-rf", join(tight.homeDir, ".sshoal")]);
      });
      const { code, stdout, stderr } = await runCommand(await argsFor(tight, wide), { cwd: ledger.work.dir });
      const said = stdout + stderr;
      expect([0, 1], said).toContain(code);
      if (code === 1) expect(said).toMatch(/lost|unfinished/);
      else {
        const results = listBelow(ledger.work.path("job_results"));
        for (let line = 1; line <= 12; line++) expect(results, said).toContain(`jobs.sh.${line}/made.txt`);
      }
      // A fault has a reason, if there was one.
      if (/WARNING: tight|lost: tight/.test(said))
        expect(said).toMatch(/fork|temporarily unavailable|gave no reason/i);
    },
  );
});

/** A machine on which `tool` fails, where `$*` is like `words`, until the file "go" exists. */
async function startWeak(tool: string, words: string, says: string): Promise<TestHost> {
  const fails = `case $* in ${words}) echo '${says}' >&2; exit 2 ;; esac`;
  const script = `#!/bin/sh\n[ -e ${ledger.seen.path("go")} ] || ${fails}\nexec /usr/bin/${tool} "$@"\n`;
  const bin = await makeWorkspace({ [tool]: script });
  const weak = await startSshd({ name: "weak", path: [bin.dir] });
  onTestFinished(async () => {
    await weak.stop();
    await bin.remove();
  });
  return weak;
}

test("a machine that is lost whenever a process starts gets no more jobs; its jobs are followed", async () => {
  const weak = await startWeak("head", "*", "head: Cannot fork");
  await ledger.write([ledger.job(waitFor(ledger.seen.path("go")))]);
  const client = spawnCommand(await argsFor(weak), { cwd: ledger.work.dir });
  const warning = "WARNING: weak.yaml gets no jobs: the control channel failed: head: Cannot fork\n";
  await client.until(({ stderr }) => stderr().includes(warning));
  await ledger.seen.write("go", "");
  const { code, stdout, stderr } = await client.ended;
  expect(code, stdout + stderr).toBe(0);
  expect(await ledger.audit([weak])).toEqual([]);
});

describe("slots that end right after they start", () => {
  const start = () => startWeak("setsid", "*slot.sh*", "slot.sh: 9: Cannot fork");

  const WARNING =
    "WARNING: weak.yaml gets no jobs: its slots end right after they start: slot.sh: 9: Cannot fork\n";

  test("their jobs go to another machine, with the reason", async () => {
    const weak = await start();
    await ledger.write(Array.from({ length: 6 }, () => ledger.job()));
    const { code, stdout, stderr } = await runCommand(await argsFor(weak, wide), { cwd: ledger.work.dir });
    expect(stderr).toContain(
      `${WARNING}end some of your processes on it, or ask for a higher limit (ulimit -u)\n`,
    );
    expect(code, stdout + stderr).toBe(0);
    expect(await ledger.audit([weak, wide])).toEqual([]);
  });

  test("without another machine they are tried until they run", async () => {
    const weak = await start();
    await ledger.write(Array.from({ length: 6 }, () => ledger.job()));
    const client = spawnCommand(await argsFor(weak), { cwd: ledger.work.dir });
    await client.until(({ stderr }) => stderr().includes(WARNING));
    await ledger.seen.write("go", "");
    const { code, stdout, stderr } = await client.ended;
    expect(code, stdout + stderr).toBe(0);
    expect(await ledger.audit([weak])).toEqual([]);
  });
});
