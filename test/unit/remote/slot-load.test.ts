// Runs the part of slot.sh that measures the load of the cores, on made-up /proc and /sys, and in a real cgroup.

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
' nobody=2147483647
${partOf("lib.sh")}
${partOf("cgroup/each-cgroup.sh")}
${partOf("slot/load.sh")}
${partOf("slot/free-memory.sh")}
`;
const V1 = "sys/fs/cgroup/cpu";
const V2 = "sys/fs/cgroup";

let box: Workspace;
beforeEach(async () => {
  box = await makeWorkspace({
    "proc/self/cgroup": "",
    "proc/self/status": "Name:\tsh\nCpus_allowed_list:\t0-6,8\n",
    room: "batch b\ncpu 4000 500\nkeep 7 0 0\njobs -\nslots 3\n",
  });
});
afterEach(() => box.remove());

describe.each(SHELLS)("under %s", (_, { words, hasOnlyBusybox }) => {
  const [program = "", ...args] = hasOnlyBusybox ? ["busybox", "sh"] : words;

  function run(calls: string, wrap: readonly string[] = []): string[] {
    const [file = "", ...rest] = [...wrap, program, ...args, "-c", `${SCRIPT}${calls}`];
    return execFileSync(file, rest, { cwd: box.dir, encoding: "utf8" }).trim().split("\n");
  }
  /** Sets the clock and the ticks of all cores. */
  const at = (seconds: string, busy: number, idle: number) => `
    echo "${seconds} 1.00" >proc/uptime; echo "cpu  ${busy} 0 0 ${idle} 0 0 0 0 0 0" >proc/stat
  `;
  const fakes = "proc=proc sys=sys";
  const measured = `measure_load; echo "$busy_cores"`;

  test("the load is that of the cores since the last reading, if that was long enough ago", () => {
    const lines = run(`${fakes}
      ${at("10.00", 1000, 1000)} read_room; ${measured}
      ${at("10.10", 1030, 1010)} ${measured}
      ${at("10.15", 1040, 1010)} ${measured}
      echo "$keep_mb $most_slots"`);
    expect(lines).toEqual(["500", "3000", "3000", "7 3"]);
  });

  /** Between two readings, half a second apart, all cores are busy to this part: what is measured then. */
  function loadWith(busyPart: number, between: string): number {
    const [load] = run(`${fakes}
      ${at("10.00", 1000, 1000)} read_room
      ${at("10.50", 1000 + 100 * busyPart, 1100 - 100 * busyPart)} ${between}
      ${measured}`);
    return Number(load);
  }

  test("with a quota, the load is what the cgroup used of it", async () => {
    await box.write("proc/self/cgroup", "0::/a/b\n");
    await box.write(`${V2}/a/cpu.max`, "400000 100000\n");
    await box.write(`${V2}/a/cpu.stat`, "usage_usec 7000000\nuser_usec 5\n");
    await box.write(`${V2}/a/b/cpu.max`, "max 100000\n");
    await box.write(`${V2}/a/b/cpu.stat`, "usage_usec 1\n");
    // Half of the eight cores are idle, and one of the four in the quota is busy.
    expect(loadWith(0.5, `echo "usage_usec 7500000" >${V2}/a/cpu.stat`)).toBe(1000);
    expect(loadWith(0.5, "true")).toBe(0);
    // All cores of the host are busy, so there is no room, whatever the quota is.
    expect(loadWith(1, "true")).toBe(4000);
  });

  test.each([
    ["beside the quota", V1],
    ["in a hierarchy of its own", "sys/fs/cgroup/cpuacct"],
  ])("with a quota of version 1, and its use %s", async (__, usage) => {
    await box.write("proc/self/cgroup", "5:cpuacct:/a\n4:cpu:/a\n");
    await box.write(`${V1}/a/cpu.cfs_quota_us`, "400000\n");
    await box.write(`${V1}/a/cpu.cfs_period_us`, "100000\n");
    await box.write(`${usage}/a/cpuacct.usage`, "7000000000\n");
    expect(loadWith(0.5, `echo 7750000000 >${usage}/a/cpuacct.usage`)).toBe(1500);
    await box.write(`${V1}/a/cpu.cfs_quota_us`, "-1\n");
    expect(loadWith(0.5, "true")).toBe(2000);
  });

  test("with a quota whose use is unknown, it is as busy as all cores", async () => {
    await box.write("proc/self/cgroup", "4:cpu:/a\n");
    await box.write(`${V1}/a/cpu.cfs_quota_us`, "400000\n");
    await box.write(`${V1}/a/cpu.cfs_period_us`, "100000\n");
    expect(loadWith(0.5, "true")).toBe(2000);
  });

  test.runIf(isRoot && existsSync("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))(
    "a real cgroup of version 1, and what it used",
    async () => {
      const name = `sshoal-test-${process.pid}`;
      const dirs = [`/sys/fs/cgroup/cpu/${name}`, `/sys/fs/cgroup/cpuacct/${name}`];
      for (const dir of dirs) await mkdir(dir, { recursive: true });
      try {
        await writeFile(`${dirs[0]}/cpu.cfs_quota_us`, "400000");
        const enter = [
          "sh",
          "-c",
          `for dir in ${dirs.join(" ")}; do echo $$ >$dir/tasks; done; exec "$@"`,
          "sh",
        ];
        const spins = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done";
        const [known] = run(`${spins}; read_room; echo "\${quota_looks#?}"`, enter);
        expect(known).toMatch(new RegExp(`^${dirs[0]} [1-9]\\d*$`));
      } finally {
        for (const dir of dirs) if (existsSync(dir)) await rmdir(dir);
      }
    },
  );
});
