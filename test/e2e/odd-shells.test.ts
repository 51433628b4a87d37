// Machines as people have them: login shells of every kind, start-up files that print or are slow, wrappers around
// every command, missing tools. On each a small batch runs or reports what is missing, and so does doctor.

import { mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "vitest";
import type { Check } from "../../src/model/examination.js";
import { LOGIN_SHELL_WORDS } from "../../src/transport/script/bootstrap.js";
import { giveToRemote } from "../rig/account.js";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { type SshdOptions, startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

type Finish = Pick<TestContext, "onTestFinished">;

async function aWorkspace({ onTestFinished }: Finish): Promise<Workspace> {
  const work = await makeWorkspace();
  onTestFinished(() => work.remove());
  return work;
}

async function aHost(options: SshdOptions, { onTestFinished }: Finish): Promise<TestHost> {
  const host = await startSshd({ name: "box", ...options });
  onTestFinished(() => host.stop());
  return host;
}

/** What each job printed, and the messages on the way. */
async function runBatch(file: string, jobs: readonly string[], context: Finish) {
  const work = await aWorkspace(context);
  await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  const words = ["jobs.sh", "--machines", file, ...LIGHT_NO_GPU];
  const { code, stdout, stderr } = await runCommand(words, { cwd: work.dir });
  const out = jobs.map((_, index) => work.read(`job_results/jobs.sh.${index + 1}.out`).catch(() => null));
  return { code, said: stdout + stderr, out: await Promise.all(out) };
}

async function runDoctor(file: string, context: Finish) {
  const { dir } = await aWorkspace(context);
  const words = ["doctor", "--json", ...LIGHT_NO_GPU, "--machines", file];
  const { code, stdout } = await runCommand(words, { cwd: dir, program: "sshoal" });
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return { code, checks, about: (name: string) => checks.filter(({ check }) => check === name) };
}

async function runBoth(host: TestHost, jobs: readonly string[], context: Finish) {
  const file = await host.machineFile();
  return Promise.all([runBatch(file, jobs, context), runDoctor(file, context)]);
}

/** A PATH with the usual tools, except some; set for every command by a wrapper, because sshd sets its own PATH. */
async function hostWithout(tools: readonly string[], context: Finish): Promise<TestHost> {
  const { path } = await aWorkspace(context);
  const dir = path("bin");
  mkdirSync(dir);
  for (const tool of readdirSync("/usr/bin")) {
    if (!tools.includes(tool)) symlinkSync(join("/usr/bin", tool), join(dir, tool));
  }
  const wrapper = `ForceCommand PATH=${dir} exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"`;
  return aHost({ config: [wrapper] }, context);
}

/** Runs in any shell, and prints which one. */
const JOBS = [
  `printf '%s|' "it's" "\\$HOME" 'é'; (cd / && pwd)`,
  `echo "\${BASH_VERSION:+bash} $SSHOAL_JOB"`,
];
const PRINTED = ["it's|$HOME|é|/\n", "bash jobs.sh.2\n"];

describe.concurrent("login shells", () => {
  // Those without a file read none for a command.
  test.for([
    { shell: "bash", file: ".bashrc", noise: "printf 'no newline'" },
    { shell: "zsh", file: ".zshenv", noise: "printf 'no newline'" },
    { shell: "fish", file: ".config/fish/config.fish", noise: "printf 'no newline'" },
    { shell: "tcsh", file: ".tcshrc", noise: "printf 'no newline'" },
    { shell: "dash" },
    { shell: "ksh" },
    { shell: "busybox ash" },
  ])("$shell", async ({ shell, file, noise = "" }, context) => {
    const { expect } = context;
    const host = await aHost({ loginShell: shell }, context);
    if (file !== undefined) {
      await mkdir(dirname(join(host.homeDir, file)), { recursive: true });
      await writeFile(join(host.homeDir, file), `${noise}\n`);
    }
    const [batch, { code, checks, about }] = await runBoth(host, JOBS, context);
    expect({ code: batch.code, out: batch.out }, batch.said).toEqual({ code: 0, out: PRINTED });
    expect(code, JSON.stringify(checks)).toBe(0);
    const prints = about("login shell").filter(({ says }) => says.includes("start-up files print"));
    expect(prints.map(({ says }) => says.slice(0, says.indexOf(":")))).toEqual(
      file === undefined ? [] : [`${shell}'s start-up files print "no newline"`],
    );
  });
});

describe.concurrent("start-up files", () => {
  test("that print lines, on both streams, with colours", async (context) => {
    const { expect } = context;
    const host = await aHost({ loginShell: "bash" }, context);
    await writeFile(
      join(host.homeDir, ".bashrc"),
      "echo 'Welcome!'; printf '\\033[31mMaintenance\\033[0m on Friday\\n'; echo careful >&2\n",
    );
    const [batch, { code, about }] = await runBoth(host, JOBS, context);
    expect({ code: batch.code, out: batch.out }, batch.said).toEqual({ code: 0, out: PRINTED });
    expect(batch.said).not.toContain("Welcome");
    expect(code).toBe(0);
    expect(about("login shell")).toMatchObject([
      { verdict: "warn", says: expect.stringMatching(/Welcome!.*Maintenance.*careful/) },
    ]);
  });

  test("that exit, read stdin, or exec another shell: nothing runs, and the reason is printed", async (context) => {
    const { expect } = context;
    const host = await aHost({ loginShell: "bash" }, context);
    const { dir } = await aWorkspace(context);
    const file = await host.machineFile();
    for (const line of ["exit 0", "read -r line", "exec dash"]) {
      await writeFile(join(host.homeDir, ".bashrc"), `${line}\n`);
      const { code, stdout } = await runCommand(["probe", "--machines", file], {
        cwd: dir,
        program: "sshoal",
      });
      expect(code, line).toBe(3);
      const words = stdout.replace(/\s+/g, " ");
      expect(words, line).toContain("the login shell ended without output and without running sh");
      expect(words, line).toContain("may exit, read its input or exec another shell");
    }
  });

  test("that take three seconds", async (context) => {
    const { expect } = context;
    const host = await aHost({ loginShell: "bash" }, context);
    await writeFile(join(host.homeDir, ".bashrc"), "sleep 3\n");
    const [batch, { code, about }] = await runBoth(host, JOBS, context);
    expect({ code: batch.code, out: batch.out }, batch.said).toEqual({ code: 0, out: PRINTED });
    expect(code).toBe(0);
    expect(about("login shell")).toMatchObject([
      {
        verdict: "warn",
        says: expect.stringMatching(/^bash takes \d+\.\d s to start/),
        fix: expect.stringMatching(/, begin ~\/\.bashrc with: case/),
      },
    ]);
  });
});

describe.concurrent("forced commands", () => {
  test("a wrapper that logs, prints, and runs the command", async (context) => {
    const { expect } = context;
    const { path, read, write } = await aWorkspace(context);
    const wrapper = await write(
      "wrapper",
      `#!/bin/bash
echo "this session is recorded"
echo "$SSH_ORIGINAL_COMMAND" >>'${path("log")}'
bash -lc "$SSH_ORIGINAL_COMMAND"
`,
    );
    const host = await aHost({ config: [`ForceCommand ${wrapper}`] }, context);
    const [batch, { code, checks }] = await runBoth(host, JOBS, context);
    expect({ code: batch.code, out: batch.out }, batch.said).toEqual({ code: 0, out: PRINTED });
    expect(code, JSON.stringify(checks)).toBe(0);
    const words = (await read("log")).trimEnd().split("\n");
    const others = words.filter((each) => each !== LOGIN_SHELL_WORDS);
    expect(others, "every command but the first probe is the same fixed words").toEqual([
      expect.stringMatching(/^exec sh -c 'eval "\$\(printf %b "unset s;/),
    ]);
  });

  test("one that refuses is quoted by both", async (context) => {
    const { expect } = context;
    const refusal = "This account is for git only.";
    const host = await aHost({ config: [`ForceCommand echo ${refusal}; exit 1`] }, context);
    const [batch, { code, checks }] = await runBoth(host, JOBS, context);
    expect(batch.code, batch.said).toBe(3);
    expect(batch.said).toContain(refusal);
    expect(code).toBe(3);
    expect(checks).toMatchObject([
      { check: "scripts", verdict: "bad", says: expect.stringContaining(refusal), fix: expect.any(String) },
    ]);
  });
});

describe.concurrent("tools", () => {
  test("no bash: jobs run under sh, and that is reported", async (context) => {
    const { expect } = context;
    const host = await hostWithout(["bash", "rbash"], context);
    const jobs = [`echo "\${BASH_VERSION-no bash}"`, "[ 1 = 1 ] && exit 7"];
    const [batch, { code, about }] = await runBoth(host, jobs, context);
    expect(batch.out).toEqual(["no bash\n", ""]);
    expect(batch.code, batch.said).toBe(1);
    expect(batch.said).toMatch(/no bash: \w+ run under sh/);
    expect(code).toBe(0);
    expect(about("tools")).toMatchObject([
      {
        verdict: "warn",
        says: expect.stringMatching(/^there is no bash: /),
        fix: expect.stringMatching(/ bash$/),
      },
    ]);
  });

  test.for(["tar", "setsid", "find"])("no %s: nothing begins, and it is named", async (tool, context) => {
    const { expect } = context;
    const host = await hostWithout([tool], context);
    const { code, said, out } = await runBatch(await host.machineFile(), JOBS, context);
    expect(code).toBe(3);
    expect(said).toContain(`there is no ${tool} on the machine`);
    expect(said).toContain("sshoal doctor");
    expect(out).toEqual([null, null]);
  });

  test("doctor names all missing tools at once, with their packages", async (context) => {
    const { expect } = context;
    const host = await hostWithout(["tar", "setsid", "find", "flock"], context);
    const { code, about } = await runDoctor(await host.machineFile(), context);
    expect(code).toBe(3);
    expect(about("tools")).toMatchObject([
      {
        verdict: "bad",
        says: "there is no tar, find, setsid",
        fix: expect.stringMatching(/tar findutils util-linux$/),
      },
      { verdict: "warn", says: expect.stringMatching(/^there is no flock: /) },
    ]);
  });
});

test("a locale that is not English, or does not exist", async (context) => {
  const { expect } = context;
  const env = { LANG: "de_DE.UTF-8", LC_ALL: "tr_TR.UTF-8", LANGUAGE: "de:tr" };
  const host = await aHost({ env }, context);
  const jobs = [...JOBS, 'echo "$LANG $LC_ALL"', "cat nowhere"];
  const [batch, { code, checks }] = await runBoth(host, jobs, context);
  expect(batch.code, batch.said).toBe(1);
  expect(batch.out).toEqual([...PRINTED, "de_DE.UTF-8 tr_TR.UTF-8\n", ""]);
  expect(batch.said).toContain("3 succeeded, 1 failed");
  expect(code, JSON.stringify(checks)).toBe(0);
});

test("home and scratch on different file systems", async (context) => {
  const { expect, onTestFinished } = context;
  const host = await aHost({}, context);
  const device = (path: string) => statSync(path).dev;
  const other = ["/dev/shm", "/run", "/var/tmp"].find((dir) => {
    const facts = statSync(dir, { throwIfNoEntry: false });
    return facts !== undefined && facts.dev !== device(host.homeDir);
  });
  if (other === undefined) return context.skip("there is no second file system to try it on");
  const scratch = await mkdtemp(join(other, "sshoal-test-"));
  giveToRemote(scratch);
  onTestFinished(() => rm(scratch, { recursive: true, force: true }));
  const jobs = ["pwd; stat -c %d . ~", "echo made >result; ls -d ~/.sshoal/batches/*"];
  const { code, said, out } = await runBatch(await host.machineFile(`scratch: ${scratch}`), jobs, context);
  expect(code, said).toBe(0);
  const [place, here, home] = out[0]?.split("\n") ?? [];
  expect(place?.startsWith(`${scratch}/.sshoal/batches/`)).toBe(true);
  expect([here, home]).toEqual([String(device(scratch)), String(device(host.homeDir))]);
  expect(out[1]?.trimEnd().endsWith(`@${hostname()}`)).toBe(true);
});
