// Runs the part of slot.sh that measures free memory and the load, on made-up /proc and /sys, and in a real cgroup.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { joinScript } from "../../../src/remote/join-script.js";
import { isRoot } from "../../rig/account.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";
import { SHELLS } from "./a-spool.js";

const partOf = (name: string) => joinScript(new URL(`../../../src/remote/runtime/${name}`, import.meta.url));
const SCRIPT = `newline='
' nobody=2147483647 proc=proc
${partOf("cgroup/each-cgroup.sh")}
${partOf("slot/free-memory.sh")}
`;
const MB = 1024 * 1024;
const V1 = "sys/fs/cgroup/memory";
const NO_LIMIT = "9223372036854771712";

let box: Workspace;
beforeEach(async () => {
  box = await makeWorkspace({
    "proc/meminfo": "MemTotal: 9000000 kB\nMemFree: 10 kB\nMemAvailable: 8192000 kB\n",
    "proc/self/cgroup": "",
  });
});
afterEach(() => box.remove());

describe.each(SHELLS)("under %s", (_, { words, hasOnlyBusybox }) => {
  const [program = "", ...args] = hasOnlyBusybox ? ["busybox", "sh"] : words;

  function run(calls: string, wrap: readonly string[] = []): string {
    const [file = "", ...rest] = [...wrap, program, ...args, "-c", `${SCRIPT}${calls}`];
    return execFileSync(file, rest, { cwd: box.dir, encoding: "utf8" }).trim();
  }
  const freeMb = () => run("sys=sys; measure_memory; echo $free_mb");

  test.each([
    ["as available", "MemTotal: 9999999 kB\nMemAvailable: 1024000 kB\n", "1000"],
    ["rounded down", "MemTotal: 9999999 kB\nMemAvailable: 1023999 kB\n", "999"],
    [
      "of a kernel before 3.14, without shared memory",
      "MemTotal: 99999 kB\nMemFree: 10240 kB\nBuffers: 1024 kB\nCached: 4096 kB\nShmem: 2048 kB\nSReclaimable: 1024 kB\n",
      "14",
    ],
    ["of lxcfs, without a limit", "MemTotal: 0 kB\nMemAvailable: 0 kB\n", "-"],
  ])("free memory %s", async (__, meminfo, mb) => {
    await box.write("proc/meminfo", meminfo);
    expect(freeMb()).toBe(mb);
  });

  async function inCgroup1(path: string, limit: string, used: number, inactive = 0): Promise<void> {
    await box.write(`${V1}${path}/memory.limit_in_bytes`, `${limit}\n`);
    await box.write(`${V1}${path}/memory.usage_in_bytes`, `${used}\n`);
    await box.write(`${V1}${path}/memory.stat`, `cache 1\ntotal_inactive_file ${inactive}\ntotal_cache 7\n`);
  }

  test("cgroups of version 1: the tightest of all levels counts, and cache that can be dropped is free", async () => {
    await box.write("proc/self/cgroup", "5:cpu:/\n4:memory:/a/b\n");
    await inCgroup1("", NO_LIMIT, 5);
    await inCgroup1("/a", `${300 * MB}`, 200 * MB, 50 * MB);
    await inCgroup1("/a/b", `${900 * MB}`, 200 * MB);
    expect(freeMb()).toBe("150");
  });

  test("cgroups of version 2", async () => {
    await box.write("proc/self/cgroup", "0::/user.slice/x\n");
    const base = "sys/fs/cgroup/user.slice";
    await box.write(`${base}/memory.max`, "max\n");
    await box.write(`${base}/x/memory.max`, `${500 * MB}\n`);
    await box.write(`${base}/x/memory.current`, `${400 * MB}\n`);
    await box.write(`${base}/x/memory.stat`, `anon 1\ninactive_file ${100 * MB}\n`);
    expect(freeMb()).toBe("200");
    await box.write("proc/meminfo", "MemTotal: 0 kB\nMemAvailable: 0 kB\n");
    expect(freeMb()).toBe("200");
  });

  test("a cgroup that uses more than its limit leaves nothing", async () => {
    await box.write("proc/self/cgroup", "4:memory:/a\n");
    await inCgroup1("/a", `${100 * MB}`, 200 * MB);
    expect(freeMb()).toBe("0");
  });

  test("a cgroup that is not visible has no limit", async () => {
    await box.write("proc/self/cgroup", "4:memory:/docker/outside\n0::/../..\n");
    expect(freeMb()).toBe("8000");
  });

  test.runIf(isRoot && existsSync("/sys/fs/cgroup/memory/memory.limit_in_bytes"))(
    "a real cgroup of version 1",
    async () => {
      const dir = `/sys/fs/cgroup/memory/sshoal-test-${process.pid}`;
      await mkdir(dir);
      try {
        await writeFile(`${dir}/memory.limit_in_bytes`, `${100 * MB}`);
        const enter = ["sh", "-c", `echo $$ >${dir}/tasks && exec "$@"`, "sh"];
        const mb = Number(run("proc=/proc sys=/sys; measure_memory; echo $free_mb", enter));
        expect(mb).toBeGreaterThan(50);
        expect(mb).toBeLessThanOrEqual(100);
      } finally {
        await rmdir(dir);
      }
    },
  );
});
