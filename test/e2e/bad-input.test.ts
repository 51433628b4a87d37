// For any mistake in a command or a file: one clear message, the right exit code, and nothing left behind.

import { existsSync } from "node:fs";
import { chmod, mkdir, rm, stat } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { LIGHT, LIGHT_NO_GPU, listBelow } from "../rig/batch.js";
import { type CommandOptions, type CommandResult, runCommand } from "../rig/command.js";
import { makeKey, startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "box" });
});
beforeEach(async () => {
  work = await makeWorkspace({ "jobs.sh": "echo ran > made.txt\n" });
});
afterEach(() => work.remove());
afterAll(() => host?.stop());

function run(args: readonly string[], options: Partial<CommandOptions> = {}): Promise<CommandResult> {
  return runCommand(args, { cwd: work.dir, ...options });
}

/** Writes a machine file for the host, with these differences. */
function machine(name: string, over: Readonly<Record<string, string | number>>): Promise<string> {
  const { username, port, keyPath } = host;
  const lines = { ip: "127.0.0.1", username, port, ssh_key_path: keyPath, max_jobs: 1, ...over };
  const text = Object.entries(lines).map(([key, value]) => `${key}: ${value}\n`);
  return work.write(name, text.join(""));
}

function expectNothingLeft(): void {
  expect(existsSync(work.path("job_results"))).toBe(false);
  expect(listBelow(host.homeDir)).toEqual([]);
}

/** An input that is refused before anything begins. */
async function expectRefused(args: readonly string[], said: string | RegExp): Promise<void> {
  const { code, stdout, stderr } = await run(args);
  expect(stderr).toMatch(said);
  expect(stdout).toBe("");
  expect(code).toBe(2);
  expectNothingLeft();
}

describe("the script", () => {
  test("is missing", async () => {
    await expectRefused(
      ["job.sh", ...LIGHT_NO_GPU],
      /^error: job\.sh: there is no such script\ntry: did you mean jobs\.sh\?\n$/,
    );
  });

  test("is empty, or has only comments", async () => {
    for (const text of ["", "\n\n", "# nothing\n  # here\n"]) {
      await work.write("empty.sh", text);
      await expectRefused(
        ["empty.sh", ...LIGHT_NO_GPU],
        /^error: empty\.sh: there is no job in it\ntry: write one /,
      );
    }
  });

  test("is a directory", async () => {
    await mkdir(work.path("scripts"));
    await expectRefused(["scripts"], /^error: scripts: is a directory, not a script\n/);
  });

  test("is binary", async () => {
    await work.write("program", Buffer.from("echo\n\x7fELF\0\0\0"));
    await expectRefused(["program"], /^error: program:2: is binary: it holds a NUL byte\n/);
  });

  test("is not bash, or ends within a command: every mistake is reported, and nothing runs", async () => {
    await work.write("odd.sh", "echo a\necho b)\nfor x in 1 2; do\n  echo $x\n");
    await expectRefused(
      ["odd.sh"],
      /^error: odd\.sh:2: syntax error near unexpected token `\)'\nerror: odd\.sh:3: syntax error: unexpected end of file.*\ntry: bash -n odd\.sh\n$/,
    );
  });

  test("is not named, or --machines has swallowed its name", async () => {
    await expectRefused(
      [],
      /^error: which script\?\ntry: execute_batch script\.sh --machines a\.yaml b\.yaml\n$/,
    );
    const file = await host.machineFile();
    await expectRefused(
      ["--machines", file, "jobs.sh"],
      /^error: which script\? --machines has taken "jobs\.sh" too\ntry: put the script first: execute_batch jobs\.sh --machines …\n$/,
    );
  });
});

describe("an option", () => {
  test("needs a number, and has none or a wrong one", async () => {
    await expectRefused(
      ["jobs.sh", "--num-cpus", "many"],
      /^error: --num-cpus takes a number <n>, got "many"\n/,
    );
    await expectRefused(["jobs.sh", "--gpus-per-job", "0"], /^error: --gpus-per-job takes a number/);
    await expectRefused(
      ["jobs.sh", "--require", "{licence: 1,\n nvme 2}"],
      /^error: --require .* cannot be read, line 2, column 7: invalid character '2'\ntry: for example --require/,
    );
    await expectRefused(
      ["jobs.sh", "--timeout", "10"],
      /^error: --timeout takes a duration with a unit, got "10"\n/,
    );
    await expectRefused(["jobs.sh", "--env", "1X=2"], /^error: --env takes NAME=VALUE, got "1X"\n/);
  });

  test("does not exist", async () => {
    await expectRefused(
      ["jobs.sh", "--machnies", "x.yaml"],
      /^error: unknown option '--machnies'\ntry: did you mean --machines\?\n$/,
    );
    await expectRefused(["jobs.sh", "--qqq"], /^error: unknown option '--qqq'\ntry: execute_batch --help\n$/);
  });

  test("is shortened so much that it is ambiguous", async () => {
    await expectRefused(
      ["jobs.sh", "--retr", "3"],
      /^error: --retr could mean --retries, --retry-failed, --retry-on-failure, --retry-on-oom\ntry: write it out\n$/,
    );
  });
});

describe("the machine file", () => {
  test("is missing", async () => {
    await machine("mine.yaml", {});
    await expectRefused(
      ["jobs.sh", "--machines", "mien.yaml"],
      /^error: mien\.yaml: there is no such machine file; looked for mien\.yaml in \., machines, \S+, \S+\ntry: did you mean mine\.yaml\?\n$/,
    );
  });

  test("is not YAML", async () => {
    await work.write("bad.yaml", 'ip: "1.2.3.4\nusername: me\n');
    await expectRefused(["jobs.sh", "--machines", "bad.yaml"], /^error: bad\.yaml:\d+:\d+: /);
  });

  test("has wrong types and unknown keys: all are reported, for all files", async () => {
    await work.write("a.yaml", "ip: [1]\nport: many\nmax_jobs: 0\nmaxjobs: 3\ngpus: all\nkeep_free: 3\n");
    await work.write("b.yaml", "username: me\nscratch: relative/path\n");
    const { code, stderr } = await run(["jobs.sh", "--machines", "a.yaml", "b.yaml"]);
    expect(code).toBe(2);
    for (const where of [
      "a.yaml:1:5",
      "a.yaml:2:7",
      "a.yaml:3:11",
      "a.yaml:4:1",
      "a.yaml:5:7",
      "a.yaml:6:12",
    ])
      expect(stderr).toContain(`${where}: `);
    expect(stderr).toContain("max_jobs");
    expect(stderr).toContain("b.yaml:1:1: ip is missing");
    expect(stderr).toContain("b.yaml:2:10: scratch must be an absolute path");
    expectNothingLeft();
  });

  test("is given twice", async () => {
    const file = await machine("mine.yaml", {});
    await expectRefused(
      ["jobs.sh", "--machines", "mine.yaml", file],
      /is the same machine file as mine\.yaml/,
    );
  });
});

describe("the key", () => {
  test("is missing", async () => {
    const file = await machine("box.yaml", { ssh_key_path: "/no/such/key" });
    await expectRefused(
      ["jobs.sh", "--machines", file],
      /box\.yaml:4:15: ssh_key_path \/no\/such\/key does not exist\ntry: list the directory: ls \/no\/such\n$/,
    );
  });

  test("cannot be read", async () => {
    makeKey(work.path("key"));
    await machine("box.yaml", { ssh_key_path: work.path("key") });
    await chmod(work.path("key"), 0);
    const { code, stderr } = await runAsOther(["jobs.sh", "--machines", "box.yaml"]);
    expect(stderr).toMatch(
      /^error: box\.yaml:4:15: ssh_key_path \S+key cannot be read\ntry: ls -l \S+key\n$/,
    );
    expect(code).toBe(2);
    expectNothingLeft();
  });

  test("is not a key: no machine is left", async () => {
    await work.write("key", "not a key\n");
    const file = await machine("box.yaml", { ssh_key_path: "key" });
    const { code, stderr } = await run(["jobs.sh", "--machines", file, ...LIGHT_NO_GPU]);
    expect(stderr).toMatch(/WARNING: box\.yaml is left out: 127\.0\.0\.1:\d+: cannot use the key \S+key: /);
    expect(code).toBe(3);
    expectNothingLeft();
  });

  test("has a passphrase, and there is no agent", async () => {
    makeKey(work.path("key"), { passphrase: "secret" });
    const file = await machine("box.yaml", { ssh_key_path: "key" });
    const { code, stderr } = await run(["jobs.sh", "--machines", file, ...LIGHT_NO_GPU]);
    expect(stderr).toMatch(
      /has a passphrase, and there is no agent\neval "\$\(ssh-agent\)"; ssh-add \S+key\n/,
    );
    expect(code).toBe(3);
    expectNothingLeft();
  });

  test("is not the accepted one", async () => {
    makeKey(work.path("key"));
    const file = await machine("box.yaml", { ssh_key_path: "key" });
    const { code, stderr } = await run(["jobs.sh", "--machines", file, ...LIGHT_NO_GPU]);
    expect(stderr).toMatch(
      /box\.yaml is left out: \S+: does not let \S+ in; tried: the key \S+key \(refused\); the machine accepts publickey\n/,
    );
    expect(code).toBe(3);
    expectNothingLeft();
  });
});

describe("the machine", () => {
  let silent: Server;
  beforeAll(async () => {
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => silent.close());

  // Alone, the silent machine is awaited; with others, the run does not wait for it once the jobs are done.
  test("cannot be reached, for any reason: each is reported, and the batch runs on the reachable one", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port: closedPort } = closed.address() as { port: number };
    await new Promise((resolve) => closed.close(resolve));
    const bad = await Promise.all([
      machine("unknown.yaml", { ip: "no-such-host.invalid" }),
      machine("closed.yaml", { port: closedPort }),
      machine("stranger.yaml", { username: "no-such-user" }),
      machine("silent.yaml", { port: (silent.address() as { port: number }).port }),
    ]);
    const good = await machine("good.yaml", {});
    const alone = await run(["jobs.sh", "--machines", "silent.yaml", ...LIGHT_NO_GPU]);
    expect(alone.stderr).toMatch(
      /WARNING: silent\.yaml is left out: \S+: accepts the connection but sends nothing\n/,
    );
    expect(alone.code).toBe(3);
    const { code, stdout, stderr } = await run(["jobs.sh", "--machines", ...bad, good, ...LIGHT_NO_GPU]);
    expect(stderr).toMatch(
      /WARNING: unknown\.yaml is left out: no-such-host\.invalid:\d+: (no such host name|its name cannot be looked up right now)\n/,
    );
    expect(stderr).toMatch(
      /WARNING: closed\.yaml is left out: 127\.0\.0\.1:\d+: nothing listens on that port\ntry it yourself: ssh -p /,
    );
    expect(stderr).toMatch(
      /WARNING: stranger\.yaml is left out: \S+: does not let no-such-user in; tried: the key/,
    );
    expect(stderr).toContain(
      "WARNING: silent.yaml is left out: it had not answered when the last job was done\n",
    );
    expect(stdout).toContain("machine limits:  {'good.yaml': 1}\n");
    expect(stdout).toContain("1 succeeded, 0 failed");
    expect(code).toBe(0);
    expect(await work.read("job_results/jobs.sh.1/made.txt")).toBe("ran\n");
    await rm(host.homeDir, { recursive: true });
    await mkdir(host.homeDir);
  });

  test("has another host key than the known one: it is refused, with the command that fixes it", async () => {
    const home = await makeWorkspace();
    onTestFinished(() => home.remove());
    makeKey(home.path("other"));
    const [type, key] = (await home.read("other.pub")).split(" ");
    await home.write(".ssh/known_hosts", `[127.0.0.1]:${host.port} ${type} ${key}\n`);
    const file = await machine("box.yaml", {});
    const { code, stderr } = await run(["jobs.sh", "--machines", file, ...LIGHT_NO_GPU], { home: home.dir });
    expect(stderr).toMatch(
      /box\.yaml is left out: \S+: its host key is now ssh-ed25519 SHA256:\S+, not the ssh-ed25519 SHA256:\S+ in \S+known_hosts:1\n/,
    );
    expect(stderr).toMatch(/ssh-keygen -R '\[127\.0\.0\.1\]:\d+' -f /);
    expect(code).toBe(3);
    expectNothingLeft();
  });

  test("has no room: the limit is named, and how much is missing", async () => {
    const file = await machine("box.yaml", {});
    const args = ["jobs.sh", "--machines", file, "--no-gpu-required"];
    const memory = await run([...args, "--num-cpus", "0.01", "--memory-required", "900000000"]);
    expect(memory.stderr).toMatch(
      /box\.yaml is left out: memory: a job needs 900000000 MB, \d+ MB are free: 8999\d+ MB short \(lower --memory-required, now 900000000\); would fit: at most \S+ [GT]B of memory\n/,
    );
    expect(memory.code).toBe(3);
    expect(memory.stdout).toMatch(
      /0 succeeded, 0 failed, 1 unfinished in \d+s\nunfinished jobs:\n {2}1 waiting\n$/,
    );
    const cores = await run([...args, "--num-cpus", "9000", "--memory-required", "1"]);
    expect(cores.stderr).toMatch(/cores: one more job needs 9000, there is room for [\d.]+ /);
    expect(cores.code).toBe(3);
    expectNothingLeft();
  });

  test("has no GPU: that is reported, with the option to do without", async () => {
    const file = await machine("box.yaml", {});
    const { code, stderr } = await run(["jobs.sh", "--machines", file, ...LIGHT]);
    expect(stderr).toMatch(
      /GPU: a job needs one, none was found: .* \(jobs that use no GPU: --no-gpu-required\)\n/,
    );
    expect(code).toBe(3);
    expectNothingLeft();
  });
});

describe("the paths to copy", () => {
  test("do not exist, or are outside", async () => {
    const file = await machine("box.yaml", {});
    const args = ["jobs.sh", "--machines", file, ...LIGHT_NO_GPU];
    await expectRefused(
      [...args, "--copy-forward", "data", "../other", "/etc"],
      /^error: --copy-forward data: there is no such file or directory\nerror: --copy-forward \.\.\/other: it is outside the working directory \S+\nerror: --copy-forward \/etc: it is outside/,
    );
    await expectRefused([...args, "--copy-backwards", ".."], /^error: --copy-backwards \.\.: it is outside/);
    await expectRefused(
      [...args, "--exclude", "!keep"],
      /^error: --exclude takes a pattern such as \*\.ckpt, got "!keep"\n/,
    );
  });

  test("are partly unreadable: all of them are reported", async () => {
    await work.write("secret.txt", "s\n");
    await work.write("locked/file.txt", "f\n");
    await chmod(work.path("secret.txt"), 0);
    await chmod(work.path("locked"), 0);
    const { code, stderr } = await runAsOther(["jobs.sh", ...LIGHT_NO_GPU, "--copy-forward", "./"]);
    expect(stderr.trimEnd().split("\n").sort()).toEqual([
      "error: locked: cannot be read for copying: EACCES",
      "error: secret.txt: cannot be read for copying: EACCES",
      "try: make it readable, or exclude it with a line in .sshoalignore",
    ]);
    expect(code).toBe(2);
    expectNothingLeft();
  });

  test("are in a directory that is not writable", async () => {
    await chmod(work.dir, 0o555);
    const { code, stderr } = await runAsOther(["jobs.sh", ...LIGHT_NO_GPU]);
    expect(stderr).toMatch(
      /^error: \S+\/job_results cannot be written: EACCES.*\ntry: run from a directory you may/,
    );
    expect(code).toBe(2);
    await chmod(work.dir, 0o755);
    expectNothingLeft();
  });
});

/** As a user who may not read everything, unlike root. */
async function runAsOther(args: readonly string[]): Promise<CommandResult> {
  if (process.getuid?.() !== 0) return run(args, { home: work.dir });
  if (((await stat(work.dir)).mode & 0o222) !== 0) await chmod(work.dir, 0o777);
  return run(args, { home: work.dir, uid: 65534 });
}
