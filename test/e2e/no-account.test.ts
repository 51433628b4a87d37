// A uid for which the system has no account, as in containers: a batch works as for any other user.

import { spawnSync } from "node:child_process";
import { userInfo } from "node:os";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, test } from "vitest";
import { takeFromRemote } from "../rig/account.js";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { useOwnHome } from "../rig/own-home.js";
import { startSshd } from "../rig/sshd.js";
import { surroundings } from "../rig/surroundings.js";

const own = useOwnHome({ "jobs.sh": "echo one\n" });
// In the namespace only the test's own files have an owner.
beforeEach(() => takeFromRemote(own.work.dir));

/** A user namespace gives this process's own files to a uid without an account, and needs no root. */
const STRANGER = ["--user", "--map-user=54321", "--map-group=54321"];
const canBeStranger = spawnSync("unshare", [...STRANGER, "true"]).status === 0;

function runAsStranger(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  program = "execute-batch",
) {
  const file = fileURLToPath(new URL(`../../dist/${program}.js`, import.meta.url));
  return spawnSync("unshare", [...STRANGER, process.execPath, file, ...args], {
    cwd: own.work.dir,
    env: { ...surroundings(), ...env },
    encoding: "utf8",
    timeout: 60_000,
  });
}

test.runIf(canBeStranger)("jobs run on this machine for a uid without an account", async () => {
  const { status, stdout, stderr } = runAsStranger(["jobs.sh", ...LIGHT_NO_GPU], { HOME: own.home.dir });
  expect(status, stdout + stderr).toBe(0);
  expect(await own.work.read("job_results/jobs.sh.1.out")).toBe("one\n");
});

test.runIf(canBeStranger)("jobs run by ssh for a uid without an account", async () => {
  const host = await startSshd({ username: userInfo().username });
  try {
    const args = ["jobs.sh", "--machines", await host.machineFile(), ...LIGHT_NO_GPU];
    const { status, stdout, stderr } = runAsStranger(args, { HOME: own.home.dir });
    expect(status, stdout + stderr).toBe(0);
    expect(await own.work.read("job_results/jobs.sh.1.out")).toBe("one\n");
  } finally {
    await host.stop();
  }
});

test.runIf(canBeStranger)("a uid without an account and without HOME also gets an answer", () => {
  const { status, stderr } = runAsStranger(["status"], { NODE_DISABLE_COMPILE_CACHE: "1" }, "sshoal");
  expect(stderr).toContain("no batch was ever run in");
  expect(status).toBe(2);
});
