// `sshoal doctor`: its output for good and bad machines, and that it leaves nothing behind.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, type TestContext, test } from "vitest";
import type { Check } from "../../src/model/examination.js";
import { isRoot } from "../rig/account.js";
import { LIGHT, LIGHT_NO_GPU, listBelow } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { type SshdOptions, startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let work: Workspace;

beforeAll(async () => {
  work = await makeWorkspace({ "jobs.sh": "echo one\n", activate: "" });
});
afterAll(() => work?.remove());

async function hostWith(options: SshdOptions, { onTestFinished }: Pick<TestContext, "onTestFinished">) {
  const host = await startSshd({ name: "box", path: [STAND_IN_BIN], ...options });
  onTestFinished(() => host.stop());
  return host;
}

interface Diagnosed {
  readonly machine: string;
  readonly fit: boolean;
  readonly checks: readonly Check[];
}

/** With --json; fails if a line is not JSON. */
async function examine(files: readonly string[], args: readonly string[] = LIGHT_NO_GPU) {
  const words = ["doctor", "--json", ...args, ...(files.length === 0 ? [] : ["--machines", ...files])];
  const { code, stdout, stderr } = await runCommand(words, { cwd: work.dir, program: "sshoal" });
  const machines = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Diagnosed]));
  return { code, stderr, machines, checks: machines[0]?.checks ?? [] };
}

function named(checks: readonly Check[], name: string): Check[] {
  return checks.filter(({ check }) => check === name);
}

describe.concurrent("sshoal doctor", () => {
  test.runIf(isRoot)(
    "a container with its own /dev/shm, and odd files of another account",
    async (context) => {
      const { expect } = context;
      const host = await hostWith({ username: "root", loginShell: "unshare --ipc sh" }, context);
      await mkdir(join(host.dir, "claims/.sshoal-claims-77"));
      const { code, checks } = await examine([await host.machineFile()]);
      expect(code).toBe(0);
      expect(named(checks, "claims").map(({ verdict, says }) => [verdict, says])).toEqual([
        ["warn", expect.stringContaining(`are ignored: ${host.dir}/claims/.sshoal-claims-77`)],
        ["warn", expect.stringContaining("a container with its own /dev/shm")],
      ]);
    },
  );

  test("a good machine: every check is fine, nothing runs on it and nothing is left", async (context) => {
    const { expect } = context;
    const host = await hostWith({ env: { CUDA_DEVICE_ORDER: "FASTEST_FIRST" } }, context);
    await writeFile(join(host.homeDir, "nvidia-smi.state"), "gpu\ngpu\n");
    const before = listBelow(host.homeDir);
    const { code, machines, checks } = await examine([await host.machineFile("setup: 'true'")], LIGHT);
    expect(code, JSON.stringify(checks)).toBe(0);
    expect(machines).toMatchObject([{ v: 1, machine: "box.yaml", fit: true }]);
    expect(checks.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual(
      ["reach", "host key", "login", "transport", "login shell", "sessions", "tools", "scratch", "setup"]
        .concat(["GPUs", "CUDA order", "logout", "clock", "room"])
        .map((name) => `${name} ok`),
    );
    const says = Object.fromEntries(checks.map((check) => [check.check, check.says]));
    expect(says["host key"]).toMatch(/^ssh-ed25519 SHA256:\S+ \(new: /);
    expect(says.login).toContain(host.keyPath);
    expect(says.sessions).toBe("5 or more at a time on one connection");
    expect(says.logout).toBe("tried: processes survive it");
    expect(says["CUDA order"]).toContain("FASTEST_FIRST");
    expect(says.room).toBe("2 such jobs at a time");
    await until("nothing runs there", () => host.pids().length === 0);
    expect(listBelow(host.homeDir)).toEqual(before);
  });

  test("on a terminal without Unicode: fixes below each problem, exit code 1 for some, 3 for no usable machine", async (context) => {
    const { expect } = context;
    const fit = await (await hostWith({}, context)).machineFile();
    const gone = await hostWith({ name: "gone" }, context);
    const unreachable = await gone.machineFile();
    await gone.halt();
    const run = (...files: string[]) =>
      runCommand(["doctor", ...LIGHT_NO_GPU, "--machines", ...files], { cwd: work.dir, program: "sshoal" });
    const some = await run(fit, unreachable);
    expect(some.code).toBe(1);
    expect(some.stdout).toMatch(/^box\.yaml: fit\n {2}ok {3}reach {8}connected in \d/);
    expect(some.stdout).toMatch(
      /\ngone\.yaml: not fit\n {2}BAD {2}reach +127\.0\.0\.1:\d+: nothing listens on that port\n {7}fix: try it yourself: ssh /,
    );
    expect((await run(unreachable)).code).toBe(3);
  });

  test("a machine that is reachable but unusable: because of its host key, because of the login", async (context) => {
    const { expect } = context;
    const host = await hostWith({}, context);
    const file = await host.machineFile();
    const key = (await readFile(`${host.keyPath}.pub`, "utf8")).split(" ").slice(0, 2).join(" ");
    const known = await work.write("known", `[127.0.0.1]:${host.port} ${key}\n`);
    const config = await work.write("changed", `UserKnownHostsFile ${known}\n`);
    const changed = await examine([file], [...LIGHT_NO_GPU, "-F", config]);
    expect(changed.code).toBe(3);
    expect(changed.checks).toMatchObject([
      {
        check: "host key",
        verdict: "bad",
        says: expect.stringContaining(`${known}:1`),
        fix: `if the machine was reinstalled: ssh-keygen -R '[127.0.0.1]:${host.port}' -f ${known}`,
      },
    ]);
    await writeFile(join(host.dir, "authorized_keys"), "");
    const refused = await examine([file]);
    expect(refused.code).toBe(3);
    expect(refused.checks).toMatchObject([
      { check: "login", verdict: "bad", says: expect.stringContaining("(refused)") },
    ]);
  });

  test("setup that fails is shown with its first error, and its processes are ended", async (context) => {
    const { expect } = context;
    const host = await hostWith({}, context);
    await mkdir(join(host.homeDir, "miniforge3/etc/profile.d"), { recursive: true });
    await writeFile(join(host.homeDir, "miniforge3/etc/profile.d/conda.sh"), "");
    const failing = await host.machineFile("setup:\n  - sleep 1000 &\n  - conda activate torch");
    const { code, checks } = await examine([failing]);
    expect(code).toBe(3);
    expect(named(checks, "setup")).toMatchObject([
      {
        verdict: "bad",
        says: "fails: conda: command not found",
        fix: `put before it in setup: . ${host.homeDir}/miniforge3/etc/profile.d/conda.sh`,
      },
    ]);
    await until("nothing runs there", () => host.pids().length === 0);
    const relying = await examine([await host.machineFile("setup: . ./activate")]);
    expect(relying.code).toBe(0);
    expect(named(relying.checks, "setup")).toMatchObject([
      { verdict: "warn", says: expect.stringContaining("it uses activate of the working directory") },
    ]);
  });

  test("a broken driver is reported in its own words, and is bad only for jobs that need a card", async (context) => {
    const { expect } = context;
    const host = await hostWith({}, context);
    saveGpus(join(host.homeDir, "nvidia-smi.state"), { failure: "mismatch", gpus: [] });
    const file = await host.machineFile();
    const words = "Failed to initialize NVML: Driver/library version mismatch";
    const needing = await examine([file], LIGHT);
    expect(needing.code).toBe(3);
    expect(named(needing.checks, "GPUs")).toMatchObject([
      { verdict: "bad", says: expect.stringContaining(words) },
    ]);
    const without = await examine([file]);
    expect(without.code).toBe(0);
    expect(named(without.checks, "GPUs")).toMatchObject([
      { verdict: "warn", says: expect.stringContaining(words) },
    ]);
  });

  test("fewer sessions than a batch needs are found by trying", async (context) => {
    const { expect } = context;
    const narrow = await hostWith({ config: ["MaxSessions 2"] }, context);
    const { code, checks } = await examine([await narrow.machineFile()]);
    expect(code).toBe(3);
    expect(named(checks, "sessions")).toMatchObject([
      {
        verdict: "bad",
        says: "2 at a time on one connection, 3 are needed",
        fix: expect.stringContaining("MaxSessions 10"),
      },
    ]);
  });

  test("a machine that kills a login's processes at its end is detected", async (context) => {
    const { expect } = context;
    const box = await makeWorkspace();
    context.onTestFinished(() => box.remove());
    // As systemd-logind does with KillUserProcesses=yes; the connection shows which processes belong to a login.
    const watch = await box.write(
      "logind",
      `#!/bin/sh
    while kill -0 "$1"; do sleep 0.02; done
    kill $(grep -lF "SSH_CONNECTION=$SSH_CONNECTION" /proc/[0-9]*/environ | grep -vw $$ | tr -cs '0-9' ' ')`,
    );
    const wrapper = `setsid ${watch} $PPID </dev/null >/dev/null 2>&1 & exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"`;
    const strict = await hostWith({ config: [`ForceCommand ${wrapper}`] }, context);
    const { code, checks } = await examine([await strict.machineFile()]);
    expect(code).toBe(3);
    expect(named(checks, "logout")).toMatchObject([
      {
        verdict: "bad",
        says: expect.stringContaining("killed when the connection ends"),
        fix: expect.stringContaining("KillUserProcesses=no"),
      },
    ]);
  });

  test("scratch that is not writable is bad, and nothing is created there", async (context) => {
    const { expect } = context;
    const host = await hostWith({}, context);
    const { code, checks } = await examine([await host.machineFile("scratch: /proc/sshoal-test")]);
    expect(code).toBe(3);
    expect(named(checks, "scratch")).toMatchObject([
      {
        verdict: "bad",
        says: expect.stringMatching(/^\/proc cannot be written: /),
        fix: expect.stringContaining("scratch:"),
      },
    ]);
  });

  test("without --machines: this computer", async (context) => {
    const { expect } = context;
    const { code, machines } = await examine([]);
    expect(code, JSON.stringify(machines)).toBe(0);
    expect(machines).toMatchObject([{ machine: "localhost", fit: true }]);
  });
});
