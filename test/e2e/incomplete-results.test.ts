// Results that are partly unreadable: the readable part is collected at once, the rest when it is readable.

import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LIGHT_NO_GPU, listBelow, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const IS_ROOT = process.getuid?.() === 0;
const NOBODY = 65534;

let host: TestHost;
let work: Workspace;

beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(async () => {
  await host?.stop();
  await work.remove();
});

async function args(): Promise<string[]> {
  return ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
}

const again = async () => runCommand(await args(), { cwd: work.dir });
const sshoal = (...words: string[]) => runCommand(words, { cwd: work.dir, program: "sshoal" });

/** The only batch of the host; undefined if nothing is left of it. */
function spool(): string | undefined {
  const batches = join(host.homeDir, ".sshoal/batches");
  const [name] = listBelow(batches);
  return name && join(batches, name);
}

const results = () => listBelow(work.path("job_results/jobs.sh.1"));

async function standIn(name: string, script: string): Promise<void> {
  await writeFile(join(host.binDir, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

describe.runIf(IS_ROOT)("files that another user left, as containers do", () => {
  /** Sessions are those of a plain account, which may not read every file. */
  beforeEach(async () => {
    const shell = "setpriv --reuid=65534 --regid=65534 --clear-groups sh";
    host = await startSshd({ name: "box", username: "root", loginShell: shell });
    for (const dir of [host.dir, host.homeDir, host.binDir]) chmodSync(dir, 0o755);
    chownSync(host.homeDir, NOBODY, NOBODY);
    await work.write(
      "jobs.sh",
      `echo made > made.txt; touch "$HOME/ready"; ${waitFor(join(host.homeDir, "go"))}\n`,
    );
  });

  /** Runs the batch, and leaves root's files in the job's directory before the job ends. */
  async function runWithRootsFiles() {
    const command = spawnCommand(await args(), { cwd: work.dir });
    command.child.stdin.end();
    await until("the job runs", () => readdirSync(host.homeDir).includes("ready"));
    const dir = join(spool() ?? "", "slots/0/work");
    writeFileSync(join(dir, "secret.bin"), "secret\n", { mode: 0o600 });
    mkdirSync(join(dir, "closed/deep"), { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, "closed/deep/x"), "deep\n");
    mkdirSync(join(dir, "open"), { mode: 0o755 });
    writeFileSync(join(dir, "open/readable"), "readable\n", { mode: 0o644 });
    writeFileSync(join(host.homeDir, "go"), "");
    return command.ended;
  }

  function openAll(): void {
    execFileSync("chmod", ["-R", "a+rX", join(spool() ?? "", "jobs/5000000000001-1-1/work")]);
  }

  describe.each(["GNU", "busybox"])("with the tools of %s", (tools) => {
    beforeEach(async () => {
      if (tools === "busybox")
        for (const tool of ["tar", "find"]) await standIn(tool, `exec busybox ${tool} "$@"`);
    });

    test("the readable part is collected, the rest is named, kept, and collected once it is readable", async () => {
      const first = await runWithRootsFiles();
      expect(first.code, first.stdout + first.stderr).toBe(1);
      expect(first.stdout).toContain("1 succeeded, 0 failed in");
      expect(first.stdout).toMatch(
        /incomplete results:\n {2}job_results\/jobs\.sh\.1 .* box\.yaml: .*closed\/, secret\.bin\n/,
      );
      expect(first.stderr).toMatch(
        /WARNING: some results of jobs.sh.1 could not be collected and stay on box\.yaml: closed\/, secret\.bin\n/,
      );
      expect(results().filter((path) => path !== "closed/")).toEqual(["made.txt", "open/", "open/readable"]);

      const status = await sshoal("status");
      expect(status.stdout).toMatch(
        /\n1 succeeded, 1 of them incomplete, 1 in all\nno client follows it: sshoal attach jobs\.sh/,
      );
      expect(status.stdout).toMatch(/^succeeded +1 +box\.yaml +\d+s +incomplete: closed\/, secret\.bin$/m);

      const second = await again();
      expect(second.code, second.stdout + second.stderr).toBe(1);
      expect(second.stdout).toContain("incomplete results:");
      expect(spool()).toBeDefined();

      openAll();
      await work.write("job_results/jobs.sh.1/secret.bin", "mine\n");
      const third = await again();
      expect(third.code, third.stdout + third.stderr).toBe(0);
      // Only root may remove root's directories.
      expect(third.stderr).toMatch(
        /WARNING: box\.yaml: no permission to remove .*: sudo rm -r \/\S+\/removing\.\d+\n/,
      );
      expect(third.stderr).not.toContain("left out");
      expect(spool()).toBeUndefined();
      expect(await work.read("job_results/jobs.sh.1/closed/deep/x")).toBe("deep\n");
      // Existing files do not change.
      expect(await work.read("job_results/jobs.sh.1/secret.bin")).toBe("mine\n");
      expect(await work.read("job_results/jobs.sh.1/secret.bin.again-2")).toBe("secret\n");
      expect((await sshoal("status")).stdout).not.toContain("incomplete");
    });
  });

  test("attach also collects the rest", async () => {
    await runWithRootsFiles();
    openAll();
    const { code, stdout, stderr } = await sshoal("attach");
    expect(code, stdout + stderr).toBe(0);
    expect(await work.read("job_results/jobs.sh.1/secret.bin")).toBe("secret\n");
    expect(await work.read("job_results/jobs.sh.1/made.txt")).toBe("made\n");
  });

  test("a client that is killed between placing results and recording it knows what is missing", async () => {
    await runWithRootsFiles();
    const record = "job_results/.sshoal/jobs.sh.jsonl";
    const lines = (await work.read(record)).split("\n");
    const end = lines.findIndex((line) => line.includes('"job-collected"'));
    await work.write(record, `${lines.slice(0, end).join("\n")}\n`);
    openAll();
    const { code, stdout, stderr } = await again();
    expect(code, stdout + stderr).toBe(0);
    expect(await work.read("job_results/jobs.sh.1/secret.bin")).toBe("secret\n");
    expect(listBelow(work.path("job_results")).filter((path) => path.includes("again"))).toEqual([]);
  });

  test("sshoal clean removes the rest", async () => {
    await runWithRootsFiles();
    const [, batch = ""] = /\((jobs\.sh-\w+)\)$/m.exec((await sshoal("status")).stdout) ?? [];
    expect((await sshoal("clean")).stdout).toMatch(/kept: 1 to collect/);
    openAll();
    execFileSync("chown", ["-R", `${NOBODY}`, host.homeDir]);
    await sshoal("clean", batch);
    expect(spool()).toBeUndefined();
    const { code, stderr } = await again();
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("missing results of jobs.sh.1 are no longer on box.yaml");
    expect((await again()).stderr).not.toContain("missing");
  });
});

describe("a machine whose tar", () => {
  beforeEach(async () => {
    host = await startSshd({ name: "box" });
    await work.write("jobs.sh", "echo made > made.txt; echo said\n");
  });

  /** Replaces tar for making archives. */
  const breakTar = (script: string) =>
    standIn("tar", `case $1 in -cf) ${script} ;; esac\nexec /usr/bin/tar "$@"`);

  test.each(["the same command", "attach"])("failed once: %s brings the result", async (way) => {
    await breakTar("echo 'tar: out of memory' >&2; exit 2");
    const first = await again();
    expect(first.code, first.stdout + first.stderr).toBe(1);
    expect(first.stderr).toContain("the results of jobs.sh.1 stay on box.yaml");
    expect((await sshoal("status")).stdout).toMatch(
      /^succeeded +1 +box\.yaml.* not collected: .*tar: out of memory/m,
    );
    const second = await (way === "attach" ? sshoal("attach") : again());
    expect(second.code, second.stdout + second.stderr).toBe(1);
    expect(second.stdout).toContain("1 ended, results not collected yet");
    await rm(join(host.binDir, "tar"));
    const third = await (way === "attach" ? sshoal("attach") : again());
    expect(third.code, third.stdout + third.stderr).toBe(0);
    expect(await work.read("job_results/jobs.sh.1/made.txt")).toBe("made\n");
    expect(await work.read("job_results/jobs.sh.1.out")).toBe("said\n");
    expect(spool()).toBeUndefined();
  });

  test("reports that a file changed: it is accepted as it was", async () => {
    await breakTar(
      '/usr/bin/tar "$@"; echo "tar: 5000000000001-1-1/work/made.txt: file changed as we read it" >&2; exit 1',
    );
    const { code, stdout, stderr } = await again();
    expect(code, stdout + stderr).toBe(0);
    expect(await work.read("job_results/jobs.sh.1/made.txt")).toBe("made\n");
  });

  test("writes zeros for what it could not read: that is not a result", async () => {
    const said =
      "tar: 5000000000001-1-1/work/made.txt: Read error at byte 0, while reading 5 bytes: Input/output error";
    await breakTar(`/usr/bin/tar "$@"; echo "${said}" >&2; exit 2`);
    const first = await again();
    expect(first.code, first.stdout + first.stderr).toBe(1);
    expect(results()).toEqual([]);
    expect(first.stdout).toContain("incomplete, still on box.yaml: made.txt");
    await rm(join(host.binDir, "tar"));
    expect((await again()).code).toBe(0);
    expect(results()).toEqual(["made.txt"]);
  });
});
