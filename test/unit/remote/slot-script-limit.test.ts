// Runs slot.sh: jobs whose memory is limited (--limit-memory). A stand-in for systemd-run makes a real control group.

import { accessSync, constants, readdirSync, rmdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../rig/until.js";
import { type Home, makeHome, makeSpool, SHELLS, type Spool } from "./a-spool.js";

const [A, B] = ["0000001-1", "0000002-1"];
const GROUPS = "/sys/fs/cgroup/memory";

/** True as root with version 1 of control groups. */
function canMakeGroups(): boolean {
  try {
    accessSync(`${GROUPS}/cgroup.procs`, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const NAME = `sshoal-test-${process.pid}`;
const LIMITS = `max=\${5#MemoryMax=}
group=${GROUPS}/${NAME}-$$
mkdir "$group" && echo $((\${max%M} << 20)) >"$group/memory.limit_in_bytes" && echo $$ >"$group/cgroup.procs" || exit 1`;

describe.each(SHELLS)("under %s", (_, shell) => {
  let home: Home;
  let spool: Spool;
  beforeEach(async () => {
    home = await makeHome(shell);
    spool = await makeSpool(home, shell);
  });
  afterEach(async () => {
    await home.close();
    if (!canMakeGroups()) return;
    for (const group of readdirSync(GROUPS).filter((name) => name.startsWith(NAME)))
      await until("its processes are gone", () => isRemoved(`${GROUPS}/${group}`));
  }, 30_000);

  const systemdRun = (does: string) =>
    home.write("bin/systemd-run", `#!/bin/sh\necho "$*" >>"$HOME/scopes"\n${does}\nshift 7\nexec "$@"\n`);
  const holds = (mb: number) =>
    `/usr/bin/perl -e 'vec(my $held, (${mb} << 20) - 1, 8) = 1; print "had it\\n"'`;

  test.runIf(canMakeGroups())("a job that uses more is killed, one that uses less is not", async () => {
    await systemdRun(LIMITS);
    await spool.job(A, holds(150), "-", { memoryLimit: 40 });
    await spool.job(B, `${holds(50)}; exit 3`, "-", { memoryLimit: 120 });
    await spool.run();
    expect(await spool.untilEvent(`ended ${A}`)).toMatch(/^ended 0000001-1 0 137 .* oom=certain( |$)/);
    expect(await spool.untilEvent(`ended ${B}`)).toMatch(/^ended 0000002-1 0 3 (?!.*oom=)/);
    expect([await spool.read(`jobs/${A}/out`), await spool.read(`jobs/${B}/out`)]).toEqual(["", "had it\n"]);
    expect((await spool.events()).join("\n")).not.toContain("unlimited");
    const words = "--user --scope --quiet -p MemoryMax=40M -p MemorySwapMax=0";
    expect(await home.read("scopes")).toContain(words);
  });

  test.runIf(canMakeGroups())(
    "the kill of a process is the cause, also if the shell exits with a code",
    async () => {
      await systemdRun(LIMITS);
      await spool.job(A, `${holds(150)}; exit 4`, "-", { memoryLimit: 40 });
      await spool.job(B, 'sh -c "kill -KILL \\$\\$"', "-", { memoryLimit: 40 });
      await spool.run();
      expect(await spool.untilEvent(`ended ${A}`)).toMatch(/^ended 0000001-1 0 4 .* oom=certain( |$)/);
      expect(await spool.untilEvent(`ended ${B}`)).toMatch(/^ended 0000002-1 0 137 (?!.*oom=certain)/);
    },
  );

  test.runIf(canMakeGroups())("the footprint of such a job is the peak of its control group", async () => {
    await systemdRun(LIMITS);
    const go = home.path("go");
    await spool.job(A, `${holds(90)}; until [ -e ${go} ]; do sleep 0.05; done`, "-", { memoryLimit: 200 });
    const loop = spool.start();
    // The process that had it is gone, but the group knows.
    await until("it was measured", () => spool.read("slots/0/peak").catch(() => null));
    await home.write("go", "");
    await loop.ended;
    const [, mem] = / mem=(\d+)/.exec(await spool.untilEvent(`ended ${A}`)) ?? [];
    expect(Number(mem)).toBeGreaterThanOrEqual(90);
  });

  test.each([
    ["systemd-run --user does not work", "exit 1"],
    ["its systemd may not limit the memory of a user", ""],
  ])("jobs run without a limit, and the log has the reason once: %s", async (reason, does) => {
    await systemdRun(does);
    await spool.job(A, "echo one", "-", { memoryLimit: 40 });
    await spool.job(B, "echo two", "-", { memoryLimit: 40 });
    await spool.run();
    const told = (await spool.events()).filter((line) => line.startsWith("unlimited"));
    expect(told).toEqual([`unlimited 0 ${reason}`]);
    expect([await spool.read(`jobs/${A}/out`), await spool.read(`jobs/${B}/out`)]).toEqual([
      "one\n",
      "two\n",
    ]);
    expect((await home.read("scopes")).split("\n").filter((line) => line.startsWith("--user"))).toHaveLength(
      1,
    );
  });

  test("a job without a limit asks systemd for nothing", async () => {
    await systemdRun("exit 1");
    await spool.job(A, "echo one");
    await spool.run();
    await expect(home.read("scopes")).rejects.toThrow();
  });
});

function isRemoved(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}
