// Machines as people name them to ssh: an alias of the configuration, or user@host:port, without a machine file.

import { existsSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EMPTY_SPOOL, listBelow, listSpool, parseEvents, waitFor } from "../rig/batch.js";
import { type CommandOptions, type CommandResult, runCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
let home: Workspace;
/** The job ends once this file exists, which outlives the test so that no job does. */
let goFile: string;
let tests = 0;

beforeAll(async () => {
  host = await startSshd({ name: "box" });
});
beforeEach(async () => {
  home = await makeHome();
  goFile = `${host.dir}/go-${++tests}`;
  work = await makeWorkspace({
    "jobs.sh": `touch '${goFile}.begun' && echo "on $SSHOAL_MACHINE" && ${waitFor(goFile)}\n`,
    "lab.conf": configFor(host),
  });
});
afterEach(async () => {
  await letGo();
  await Promise.all([work.remove(), home.remove()]);
});
afterAll(() => host?.stop());

/** Without a machine file nothing else limits the slots: these are few, and a busy machine has room for one. */
const FEW = ["--num-cpus", "0.5", "--memory-required", "1", "--no-gpu-required"];

/** The host as `gpu1`. */
function configFor({ username, keyPath, port }: Pick<TestHost, "username" | "keyPath" | "port">): string {
  return `Host gpu1\n  HostName 127.0.0.1\n  Port ${port}\n  User ${username}\n  IdentityFile ${keyPath}\n`;
}

function run(args: readonly string[], options: Partial<CommandOptions> = {}): Promise<CommandResult> {
  return runCommand(args, { cwd: work.dir, home: home.dir, ...options });
}

function sshoal(...args: string[]): Promise<CommandResult> {
  return run(args, { program: "sshoal" });
}

function start(...args: string[]): Promise<CommandResult> {
  return run(["jobs.sh", ...FEW, ...args]);
}

async function letGo(): Promise<void> {
  await writeFile(goFile, "");
}

describe("an alias", () => {
  test("of another configuration: every later command finds it in the record", async () => {
    const begun = await start("--machines", "gpu1", "-F", "lab.conf", "--detach");
    expect(begun).toMatchObject({ code: 0 });

    // A drained machine's waiting job would wait for ever.
    await until("the job has begun", () => existsSync(`${goFile}.begun`));
    const status = await sshoal("status", "--json");
    expect(status.stdout).toContain('"machine":"gpu1"');
    expect((await sshoal("drain", "gpu1")).stdout).toMatch(/^draining: gpu1; /);
    const logs = sshoal("logs", "jobs.sh.1", "-f");
    await letGo();
    expect((await logs).stdout).toBe("on gpu1\n");

    const attached = await sshoal("attach");
    expect(attached).toMatchObject({ code: 0 });
    expect(attached.stdout).toContain("1 succeeded");
    const again = await sshoal("retry", "jobs.sh.1");
    expect(again).toMatchObject({ code: 0 });
    expect(await work.read("job_results/jobs.sh.1.out")).toBe("on gpu1\n");
    const cleaned = await sshoal("clean");
    expect(cleaned).toMatchObject({ code: 0 });
    expect(cleaned.stdout).toMatch(/^gpu1\b/m);
    expect(listSpool(`${host.homeDir}/.sshoal`)).toEqual(EMPTY_SPOOL);
  });

  test("stays an alias in the record, so that a changed configuration counts", async () => {
    await home.write(".ssh/config", configFor(host));
    expect(await start("--machines", "gpu1", "--detach")).toMatchObject({ code: 0 });
    const record = await work.read("job_results/.sshoal/jobs.sh.jsonl");
    expect(record).toContain('"host":"gpu1","port":null,"username":null');

    await home.write(".ssh/config", configFor({ ...host, port: 1 }));
    const { stdout } = await sshoal("status");
    expect(stdout).toMatch(/gpu1 \(127\.0\.0\.1:1\):\s+nothing/);
    await home.write(".ssh/config", configFor(host));
    await letGo();
    // The same command as before, as people do it.
    const { code, stdout: end } = await start("--machines", "gpu1");
    expect(end).toContain("1 succeeded");
    expect(code).toBe(0);
  });

  test("in a machine file, with its own limits", async () => {
    await home.write(".ssh/config", configFor(host));
    await work.write("machines/lab.yaml", "host: gpu1\nmax_jobs: 1\nenv:\n  LR: 1e-4\n");
    await work.write("jobs.sh", "echo $LR\n");
    const { code, stdout } = await start("--machines", "lab", "--json");
    expect(code).toBe(0);
    const ready = parseEvents(stdout).find(({ kind }) => kind === "machine-ready");
    expect(ready).toMatchObject({ machine: "lab.yaml", slots: [{ index: 0 }] });
    expect(await work.read("job_results/jobs.sh.1.out")).toBe("1e-4\n");
  });

  test("from a computer without a record: attach with -F", async () => {
    expect(await start("--machines", "gpu1", "-F", "lab.conf", "--detach")).toMatchObject({ code: 0 });
    await letGo();
    const batch = /"batch":"([^"]+)"/.exec(await work.read("job_results/.sshoal/jobs.sh.jsonl"))?.[1] ?? "";
    const elsewhere = await makeWorkspace({ "jobs.sh": await work.read("jobs.sh") });
    const args = ["attach", batch, "--machines", "gpu1", "-F", work.path("lab.conf")];
    const { code, stdout, stderr } = await run(args, { program: "sshoal", cwd: elsewhere.dir });
    expect({ stderr, isDone: stdout.includes("1 succeeded"), code }).toMatchObject({ isDone: true, code: 0 });
    expect(existsSync(elsewhere.path("job_results/jobs.sh.1"))).toBe(true);
    await elsewhere.remove();
  });
});

test("user@host:port, by the usual key", async () => {
  await mkdir(home.path(".ssh"));
  await cp(host.keyPath, home.path(".ssh/id_ed25519"));
  await letGo();
  const name = `${host.username}@127.0.0.1:${host.port}`;
  const { code, stdout } = await start("--machines", name);
  expect(stdout).toMatch(new RegExp(`machine limits: +\\{'${name}': `));
  expect(code).toBe(0);
  expect(await work.read("job_results/jobs.sh.1.out")).toBe(`on ${name}\n`);
  expect(await home.read(".ssh/known_hosts")).toContain(`[127.0.0.1]:${host.port} ssh-ed25519 `);
});

test("this computer by a machine file, with its own directory", async () => {
  await work.write("here.yaml", `transport: local\nmax_jobs: 1\nscratch: ${home.path("scratch")}\n`);
  await letGo();
  const { code } = await start("--machines", "here");
  expect(code).toBe(0);
  expect(await work.read("job_results/jobs.sh.1.out")).toBe("on here.yaml\n");
  expect(listBelow(home.path("scratch/.sshoal"))).toContain("trees/");
});

describe("probe", () => {
  test("-v prints how each machine was reached", async () => {
    await sshoal("probe", "--machines", "gpu1", "-F", "lab.conf");
    const { code, stdout } = await sshoal("probe", "--machines", "gpu1", "-F", "lab.conf", "-v");
    expect(code).toBe(0);
    const words = stdout.replace(/\n +/g, " ");
    expect(words).toContain(
      `reached by ssh2; logged in with the key ${host.keyPath}; host key ssh-ed25519 SHA256:`,
    );
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect((await sshoal("probe", "-v")).stdout).toContain("reached without ssh: it is this computer");
  });

  test("without -v it is not printed; with --json always", async () => {
    const args = ["probe", "--machines", "gpu1", "-F", "lab.conf"];
    expect((await sshoal(...args)).stdout).not.toContain("reached");
    const [machine] = parseEvents((await sshoal(...args, "--json")).stdout);
    expect(machine).toMatchObject({ machine: "gpu1", about: { transport: "ssh2", why: null, via: [] } });
  });
});

describe("words that cannot name a machine", () => {
  async function expectRefused(args: readonly string[], said: RegExp): Promise<void> {
    const { code, stdout, stderr } = await start(...args);
    expect(stderr).toMatch(said);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(existsSync(work.path("job_results"))).toBe(false);
  }

  test("a mistyped name: nothing begins, and the intended name is suggested", async () => {
    await home.write(".ssh/config", "Host titan1\n");
    await work.write("machines/saturn.yaml", "host: titan1\n");
    await expectRefused(
      ["--machines", "titna1", "satrun", "x.yaml"],
      new RegExp(
        [
          "^error: titna1: no machine file \\(looked for titna1, .*\\), and no host that ssh knows",
          "try: did you mean titan1\\?",
          "error: satrun: no machine file .*",
          "try: did you mean machines/saturn.yaml\\?",
          "error: x\\.yaml: there is no such machine file; .*\\n",
        ].join("\\n"),
      ),
    );
  });

  test("-F with a missing file, or without --machines", async () => {
    await expectRefused(
      ["--machines", "gpu1", "-F", "lba.conf"],
      /^error: -F lba\.conf: there is no such file\ntry: name an ssh configuration file\n/,
    );
    await expectRefused(
      ["-F", "lab.conf"],
      /^error: -F has no effect without --machines\ntry: add --machines/,
    );
  });

  test("an unknown host, with --host-keys strict", async () => {
    const args = ["--machines", "gpu1", "-F", "lab.conf", "--host-keys", "strict"];
    const { code, stderr } = await start(...args);
    expect(stderr).toMatch(/gpu1 is left out: .* is not in known_hosts, .* its key is ssh-ed25519 SHA256:/);
    expect(code).toBe(3);
    expect(existsSync(home.path(".ssh/known_hosts"))).toBe(false);
  });
});
