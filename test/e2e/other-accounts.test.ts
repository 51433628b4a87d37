// Other accounts of a machine: directories that they control are refused, with the reason, and the batch runs on
// another machine.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, symlink } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn("SKIPPED: tests with files of another account, since only root can make them");

let box: TestHost;
let other: TestHost;
let work: Workspace;
let shared: Workspace;

beforeAll(async () => {
  [box, other] = await Promise.all([startSshd({ name: "box" }), startSshd({ name: "other" })]);
});
beforeEach(async () => {
  [work, shared] = await Promise.all([makeWorkspace({ "jobs.sh": "echo one\necho two\n" }), makeWorkspace()]);
  await chmod(shared.dir, 0o1777);
});
afterEach(() => Promise.all([work.remove(), shared.remove()]));
afterAll(() => Promise.all([box?.stop(), other?.stop()]));

const HINT = "in its machine file, set scratch: to a directory that only you can write to";

async function run(hosts: readonly TestHost[], more: readonly string[] = []) {
  const files = await Promise.all(
    hosts.map((host) =>
      host.machineFile(host === box ? `max_jobs: 1\nscratch: ${shared.dir}` : "max_jobs: 1"),
    ),
  );
  const args = ["jobs.sh", "--machines", ...files, ...LIGHT_NO_GPU, ...more];
  return runCommand(args, { cwd: work.dir });
}

describe.skipIf(!isRoot)("another account has made .sshoal in a directory like /tmp first", () => {
  beforeEach(async () => {
    await mkdir(shared.path(".sshoal/batches"), { recursive: true });
    execFileSync("chown", ["-R", "1234:1234", shared.path(".sshoal")]);
    execFileSync("chmod", ["-R", "777", shared.path(".sshoal")]);
  });

  test("the machine gets no jobs, and the batch runs on the other", async () => {
    const { code, stdout, stderr } = await run([box, other]);
    expect(stderr).toMatch(
      /WARNING: box\.yaml gets no jobs: .*not safe: \S+\/\.sshoal belongs to another account\n/,
    );
    expect(stderr).toContain(HINT);
    expect(stdout).toContain("2 succeeded, 0 failed");
    expect(code).toBe(0);
  });

  test("without another machine no job runs", async () => {
    const { code, stderr } = await run([box]);
    expect(stderr).toMatch(/not safe: \S+\/\.sshoal belongs to another account\n/);
    expect(code).toBe(3);
  });

  test("probe shows no slots, but the reason", async () => {
    const args = ["probe", "--machines", await box.machineFile(`scratch: ${shared.dir}`), ...LIGHT_NO_GPU];
    const { code, stdout } = await runCommand(args, { cwd: work.dir, program: "sshoal" });
    expect(stdout).toMatch(
      /^box\.yaml +none\n.*not safe: \S+\/\.sshoal\s+belongs\s+to\s+another\s+account\n/m,
    );
    expect(stdout).toContain(HINT);
    expect(code).toBe(3);
  });

  test("doctor finds it", async () => {
    const args = ["doctor", "--machines", await box.machineFile(`scratch: ${shared.dir}`), ...LIGHT_NO_GPU];
    const { code, stdout } = await runCommand(args, { cwd: work.dir, program: "sshoal" });
    expect(stdout).toMatch(/BAD {2}scratch +not safe: \S+\/\.sshoal belongs to\s+another\s+account/);
    expect(code).toBe(3);
  });
});

test("a directory like /tmp is used, and so is one behind a link", async () => {
  await symlink(shared.dir, work.path("link"));
  for (const scratch of [shared.dir, work.path("link")]) {
    const file = await box.machineFile(`max_jobs: 1\nscratch: ${scratch}`);
    const args = [
      "jobs.sh",
      "--machines",
      file,
      "--copy-forward",
      "jobs.sh",
      "--rerun",
      "all",
      ...LIGHT_NO_GPU,
    ];
    const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
    expect(stdout, stderr).toContain("2 succeeded, 0 failed");
    expect(code).toBe(0);
    expect(existsSync(shared.path(".sshoal/trees"))).toBe(true);
  }
});
