// A machine whose systemd kills a login's processes when the login ends. Stand-ins simulate systemd.

import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { type Ledger, openLedger } from "../rig/ledger.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace } from "../rig/workspace.js";

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openLedger();
});
afterEach(() => ledger.remove());

/** The connection shows which processes belong to a login: a scope has none. */
async function strictHost({ lingers }: { lingers: boolean }): Promise<TestHost> {
  const box = await makeWorkspace({
    logind: `#!/bin/sh
while kill -0 "$1"; do sleep 0.02; done
kill $(grep -lF "SSH_CONNECTION=$SSH_CONNECTION" /proc/[0-9]*/environ | grep -vw $$ | tr -cs '0-9' ' ')`,
    "bin/id": "#!/bin/sh\necho ann\n",
    "bin/loginctl": `#!/bin/sh
case "$*" in *" ann "*) echo Linger=${lingers ? "yes" : "no"} ;; *) echo KillUserProcesses=yes ;; esac\n`,
    "bin/systemd-run": '#!/bin/sh\nshift 3\nunset SSH_CONNECTION\nexec "$@"\n',
  });
  const watch = `setsid ${box.path("logind")} $PPID </dev/null >/dev/null 2>&1`;
  const config = [`ForceCommand ${watch} & exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"`];
  const host = await startSshd({ name: "strict", config, path: [box.path("bin")] });
  onTestFinished(async () => {
    await host.stop();
    await box.remove();
  });
  return host;
}

/** SIGTERM does not affect the jobs: the client ends, and with it the connection. */
async function detached(host: TestHost) {
  await ledger.write([ledger.job(waitFor(ledger.seen.path("go"))), ledger.job()]);
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  const client = spawnCommand([...args, "--json"], { cwd: ledger.work.dir });
  await until("line 1 runs", async () => (await ledger.runs()).get(1) === 1);
  client.child.kill("SIGTERM");
  return { args, first: await client.ended };
}

test("slots that are started in a scope continue after the logout, and nothing is lost", async () => {
  const host = await strictHost({ lingers: true });
  const { args, first } = await detached(host);
  expect(first.stdout).not.toContain("KillUserProcesses");
  await ledger.seen.write("go", "");
  await until("both jobs have run without us", async () => (await ledger.runs()).get(2) === 1);
  const { code, stdout, stderr } = await runCommand(args, { cwd: ledger.work.dir });
  expect(stdout, stderr).toContain("2 succeeded, 0 failed in");
  expect(code).toBe(0);
  expect([...(await ledger.runs()).values()]).toEqual([1, 1]);
});

test("if that does not help, it is reported before a job starts; the killed job is lost, never done", async () => {
  const host = await strictHost({ lingers: false });
  const { args, first } = await detached(host);
  const message =
    "strict.yaml: systemd kills jobs at logout (KillUserProcesses=yes); to keep them, type once on that machine: loginctl enable-linger";
  const kinds = parseEvents(first.stdout).map(({ kind, message: said }) =>
    said === message ? "warned" : kind,
  );
  expect(kinds).toContain("warned");
  expect(kinds.indexOf("warned")).toBeLessThan(kinds.indexOf("jobs-assigned"));
  await until("nothing runs there", () => host.pids().length === 0);
  await ledger.seen.write("go", "");
  const { code, stdout, stderr } = await runCommand(args, { cwd: ledger.work.dir });
  expect(stderr).toContain("WARNING: jobs.sh.1 is lost on strict.yaml: ");
  expect(stdout, stderr).toContain("2 succeeded, 0 failed in");
  expect(code).toBe(0);
  expect([...(await ledger.runs()).values()].toSorted()).toEqual([1, 2]);
});
