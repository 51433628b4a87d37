// A machine with a plain account, which cannot write to a read-only directory. With GNU's tools, and with busybox's.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIGHT_NO_GPU, listBelow } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

describe.each(["GNU", "busybox"])("with the tools of %s", (tools) => {
  let host: TestHost;
  let box: Workspace;
  let work: Workspace;

  beforeAll(async () => {
    box = await makeWorkspace();
    host = await startSshd({ name: "box", config: tools === "busybox" ? [onlyBusybox(box)] : [] });
  });
  beforeEach(async () => {
    work = await makeWorkspace();
  });
  afterEach(() => work.remove());
  afterAll(() => Promise.all([host?.stop(), box?.remove()]));

  async function run(job: string): Promise<string> {
    await work.write("jobs.sh", `${job}\n`);
    const args = ["jobs.sh", "--machines", await host.machineFile(), "--rerun", "all", ...LIGHT_NO_GPU];
    const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
    expect(code, stdout + stderr).toBe(0);
    return work.read("job_results/jobs.sh.1.out");
  }

  test("jobs do not run as root, even if the tests do", async () => {
    expect(await run("id -u")).not.toBe("0\n");
  });

  test("files and directories keep their modes, with any umask of the machine", async () => {
    await work.write("all/run.sh", "#!/bin/sh\n");
    chmodSync(work.path("all"), 0o777);
    chmodSync(work.path("all/run.sh"), 0o775);
    expect(await run("stat -c %a all all/run.sh")).toBe("777\n775\n");
  });

  test("a read-only directory is sent, and so is an edit in it", async () => {
    // Enough that only the edit is sent.
    await work.write("much.bin", Buffer.alloc(3 << 20, 1));
    await work.write("closed/sub/data.txt", "before\n");
    const setMode = (mode: number) => {
      for (const dir of ["closed/sub", "closed"]) chmodSync(work.path(dir), mode);
    };
    setMode(0o555);
    expect(await run("cat closed/sub/data.txt; echo >made")).toBe("before\n");
    setMode(0o755);
    await work.write("closed/sub/data.txt", "after\n");
    setMode(0o555);
    expect(await run("cat closed/sub/data.txt; echo >made")).toBe("after\n");
    setMode(0o755);
    expect(listBelow(work.path("job_results/jobs.sh.1"))).toEqual(["made"]);
    expect(listBelow(join(host.homeDir, ".sshoal/batches"))).toEqual([]);
  });

  test("a directory that a job closes is collected, without the inputs in it", async () => {
    await work.write("data/input.txt", "input\n");
    await run("echo made >data/made.txt; chmod 500 data");
    expect(listBelow(work.path("job_results/jobs.sh.1"))).toEqual(["data/", "data/made.txt"]);
    expect(statSync(work.path("job_results/jobs.sh.1/data")).mode & 0o700).toBe(0o700);
    expect(listBelow(join(host.homeDir, ".sshoal/batches"))).toEqual([]);
  });
});

/** A line of sshd_config: commands find only busybox's tools. */
function onlyBusybox(box: Workspace): string {
  mkdirSync(box.path("bin"));
  execFileSync("busybox", ["--install", "-s", box.path("bin")]);
  return `ForceCommand PATH=${box.path("bin")} exec ${box.path("bin")}/sh -c "$SSH_ORIGINAL_COMMAND"`;
}
