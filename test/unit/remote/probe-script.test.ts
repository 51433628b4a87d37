import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { chown, mkdir, symlink } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Workspace } from "../../rig/workspace.js";
import { BOOT_ID, ProbeBox, SHELLS } from "./probe-box.js";

describe.each(SHELLS)("under %s", (shell) => {
  let box: ProbeBox;
  let files: Workspace;

  beforeEach(async () => {
    box = await ProbeBox.make(shell);
    files = box.files;
  });
  afterEach(() => files.remove());

  test("an ordinary machine: facts in order, cores and memory before the cards", () => {
    box.withGpus({ gpus: [{ memoryFree: 20000, utilization: 5 }, { name: "NVIDIA Tesla, odd" }] });
    const { lines, capacity, stderr, isComplete } = box.run();
    expect(lines.map((line) => line.split(" ")[0])).toEqual(
      "uptime stat hostname identity allowed meminfo meminfo meminfo smi-fields smi smi smi-process uptime stat done".split(
        " ",
      ),
    );
    expect(capacity).toMatchObject({
      hostname: "box",
      memory: { totalMb: 16000, freeMb: 8000 },
      gpus: [
        { memoryFreeMb: 20000, utilization: 0.05 },
        { index: 1, name: "NVIDIA Tesla, odd" },
      ],
      gpuProblem: null,
    });
    expect({ stderr, isComplete }).toEqual({ stderr: "", isComplete: true });
  });

  test("the last reading of the cores comes after the cards", async () => {
    await files.write("proc/self/cgroup", "0::/pod\n");
    await files.write("sys/fs/cgroup/pod/cpu.max", "400000 100000\n");
    await files.write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 1000000\nuser_usec 1\n");
    await files.write(
      "bin/nvidia-smi",
      `#!/bin/sh
      echo '1001.08 1' >'${files.path("proc/uptime")}'
      echo 'cpu  150 0 0 950 0 0 0 0 0 0' >'${files.path("proc/stat")}'
      echo 'usage_usec 2500000' >'${files.path("sys/fs/cgroup/pod/cpu.stat")}'`,
    );
    expect(box.run().capacity.cpus).toEqual({ total: 4, free: 2.5 });
  });

  test("the real /proc of this computer can be read", () => {
    const { capacity, stderr } = box.run({ proc: "/proc" });
    expect(capacity.cpus?.total).toBeGreaterThan(0);
    expect(capacity.cpus?.free).toBeGreaterThanOrEqual(0);
    expect(capacity.memory?.freeMb).toBeGreaterThan(0);
    expect(stderr).toBe("");
  });

  test.each([
    ["processes survive", { kills: "no" }, undefined],
    ["processes are killed, and scopes do not work", { kills: "yes", systemdRun: "exit 1" }, "no-scope"],
    ["processes are killed, and so is the user's systemd", { kills: "yes", linger: "no" }, "no-linger"],
    ["processes are killed, unless they are in a scope", { kills: "yes" }, "scope"],
    ["the user is exempt", { kills: "yes", except: "root ann" }, undefined],
    ["only other users are affected", { kills: "yes", only: "bob" }, undefined],
    ["the user is affected", { kills: "yes", only: "bob ann", linger: "no" }, "no-linger"],
    ["root is exempt", { kills: "yes", user: "root" }, undefined],
  ])("at logout: %s", async (_, facts, logout) => {
    const {
      kills,
      linger = "yes",
      systemdRun = "exit 0",
      except = "root",
      only = "",
      user = "ann",
    } = {
      linger: "yes",
      ...facts,
    } as Record<string, string>;
    await files.write(
      "bin/loginctl",
      `#!/bin/sh
      case "$*" in
        *" ann "*) echo Linger=${linger} ;;
        *) printf '%s\\n' 'KillOnlyUsers=${only}' 'KillExcludeUsers=${except}' KillUserProcesses=${kills} ;;
      esac`,
    );
    await files.write("bin/systemd-run", `#!/bin/sh\n${systemdRun}\n`);
    await files.write("bin/id", `#!/bin/sh\necho ${user}\n`);
    const { capacity, stderr } = box.run();
    expect([capacity.logout, stderr]).toEqual([logout, ""]);
  });

  test("limits of the own cgroup and of all above it, version 2", async () => {
    await files.write("proc/self/cgroup", "1:name=systemd:/x\n0::/a b/c:d\n");
    await files.write("sys/fs/cgroup/a b/c:d/memory.max", "max\n");
    await files.write("sys/fs/cgroup/a b/memory.max", "1073741824\n");
    await files.write("sys/fs/cgroup/a b/memory.current", "805306368\n");
    await files.write("sys/fs/cgroup/a b/memory.stat", "anon 5\ninactive_file 268435456\nslab 1\n");
    await files.write("sys/fs/cgroup/a b/cpu.max", "150000 100000\n");
    await files.write("sys/fs/cgroup/cpu.max", "max 100000\n");
    const { lines, capacity } = box.run();
    const dir = files.path("sys/fs/cgroup/a b");
    expect(lines).toContain(`memlimit 1073741824 805306368 268435456 ${dir}`);
    expect(lines.filter((line) => line.startsWith("cpulimit"))).toEqual(
      Array(2).fill(`cpulimit - us 150000 100000 ${dir}`),
    );
    expect(capacity.memory).toEqual({ totalMb: 1024, freeMb: 512 });
  });

  test("limits of version 1, in a container that sees its path outside", async () => {
    await files.write("proc/self/cgroup", "5:memory:/docker/1f\n4:cpu,cpuacct:/docker/1f\n0::/docker/1f\n");
    await files.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
    await files.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
    await files.write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 536870912\n");
    await files.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
    await files.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    await files.write("sys/fs/cgroup/cpuacct/cpuacct.usage", "77\n");
    const { lines, capacity } = box.run();
    expect(lines).toContain(`cpulimit 77 ns 200000 100000 ${files.path("sys/fs/cgroup/cpu")}`);
    expect(capacity.memory).toEqual({ totalMb: 2048, freeMb: 1536 });
  });

  test("no quota, and a path outside of the namespace", async () => {
    await files.write("proc/self/cgroup", "4:cpu:/\n0::/../../x\n");
    await files.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    await files.write("sys/fs/cgroup/memory.max", "1048576\n");
    await files.write("sys/fs/cgroup/memory.current", "0\n");
    const { lines } = box.run();
    expect(lines.filter((line) => line.startsWith("cpulimit"))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("memlimit"))).toEqual([
      `memlimit 1048576 0 - ${files.path("sys/fs/cgroup")}`,
    ]);
  });

  test("the probe of a machine on which nothing can be read still ends", () => {
    const { capacity, isComplete } = box.run({ proc: files.path("nothing") });
    expect(isComplete).toBe(true);
    expect(capacity).toMatchObject({
      cpus: null,
      memory: null,
      gpus: [],
      gpuProblem: "No devices were found",
    });
  });

  test("the shell of jobs: bash, or sh if there is none", async () => {
    expect(box.run().capacity.shell).toBe("bash");
    await mkdir(files.path("few"));
    for (const tool of ["sh", "sed", "sleep", "uname"])
      await symlink(`/bin/${tool}`, files.path("few", tool));
    const { capacity, stderr, isComplete } = box.run({ before: `PATH='${files.path("few")}'` });
    expect({ shell: capacity.shell, stderr, isComplete }).toEqual({
      shell: "sh",
      stderr: "",
      isComplete: true,
    });
  });

  test("earlier output, and text after the script on stdin, do not matter", async () => {
    await files.write("bin/nvidia-smi", "#!/bin/sh\ncat\n");
    const before = "echo Welcome; printf 'in colour \\033[31m'";
    const { stdout, capacity, isComplete } = box.run({ before, after: "cat" });
    expect(isComplete).toBe(true);
    expect(capacity.hostname).toBe("box");
    expect(stdout.endsWith("left alone\n")).toBe(true);
  });

  describe("claims", () => {
    const stat = (
      pid: number,
      comm: string,
      session: number,
      startedAt: number,
      pages: number,
      state = "S",
    ) =>
      `${pid} (${comm}) ${state} 1 ${session} ${session} 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 ${startedAt} 999999 ${pages} 18446744073709551615 1 1 0\n`;

    async function slot(dir: string, texts: { claim?: string; loop?: string; job?: string }) {
      for (const [name, text] of Object.entries(texts)) await files.write(`${dir}/${name}`, text);
    }

    beforeEach(async () => {
      await files.write("proc/70/stat", stat(70, "sh", 70, 5000, 100));
      await files.write("proc/71/stat", stat(71, "odd) R 1 2 (3", 71, 5001, 25600));
      await files.write("proc/72/stat", stat(72, "worker", 71, 5002, 25600));
      await files.write("proc/73/stat", stat(73, "other", 73, 5003, 99999));
      await files.write("proc/74/stat", stat(74, "gone", 74, 5004, 0, "Z"));
    });

    test.runIf(process.getuid?.() === 0)("a slot of another account does not count", async () => {
      await slot("s/batches/b/slots/0", { claim: "5 1 0 0 0 1 -\n", loop: `70 5000 ${BOOT_ID}\n` });
      await chown(files.path("s/batches/b/slots/0"), 1234, 1234);
      expect(box.run({ bases: [files.path("s")] }).capacity.claims).toEqual([]);
    });

    test("a live slot's claim, and the memory of all processes of its job", async () => {
      await slot("home dir/.sshoal/batches/b1@box/slots/0", {
        claim: "7000 1 1000 0.75 1 0 GPU-a,GPU-b\n",
        loop: `70 5000 ${BOOT_ID}\n`,
        job: `71 5001 ${BOOT_ID} 0000001-1\n`,
      });
      const { capacity, stderr } = box.run({
        bases: ["~/.sshoal", "/none"],
        env: { HOME: files.path("home dir") },
      });
      expect(capacity.claims).toEqual([
        {
          owner: "",
          batch: "b1",
          job: "",
          slot: "0",
          memoryMb: 7000,
          residentMb: 200,
          cpus: 1,
          resources: [],
          cards: ["GPU-a", "GPU-b"].map((uuid) => ({
            uuid,
            memoryMb: 1000,
            share: 0.75,
            amount: 1,
            usedMb: null,
          })),
          reservesMachine: false,
        },
      ]);
      expect(stderr).toBe("");
    });

    test.each([
      ["without a job", "", 0],
      ["whose job's pid belongs to another process", `73 4000 ${BOOT_ID} 0000001-1\n`, 0],
      ["whose job has left children", `79 4000 ${BOOT_ID} 0000001-1\n`, 100],
    ])("a slot %s", async (_, job, residentMb) => {
      await files.write("proc/80/stat", stat(80, "child", 79, 5005, 25600));
      await slot("s/batches/b/slots/3", { claim: "5 1 0 0 0 1 -\n", loop: `70 5000 ${BOOT_ID}\n`, job });
      expect(box.run({ bases: [files.path("s")] }).capacity.claims).toMatchObject([
        { slot: "3", residentMb, cards: [], reservesMachine: true },
      ]);
    });

    test.each([
      ["the machine was rebooted", "70 5000 another-boot\n", "5 1 0 0 0 0 -\n"],
      ["its pid belongs to another process", `70 4999 ${BOOT_ID}\n`, "5 1 0 0 0 0 -\n"],
      ["it has ended", `99 5000 ${BOOT_ID}\n`, "5 1 0 0 0 0 -\n"],
      ["it is a zombie", `74 5004 ${BOOT_ID}\n`, "5 1 0 0 0 0 -\n"],
      ["its loop file makes no sense", "../../etc 1 x\n", "5 1 0 0 0 0 -\n"],
      ["it has claimed nothing yet", `70 5000 ${BOOT_ID}\n`, ""],
    ])("a slot does not count when %s", async (_, loop, claim) => {
      await slot("s/batches/b/slots/0", { claim, loop });
      expect(box.run({ bases: [files.path("s")] }).capacity.claims).toEqual([]);
    });
  });

  test("a real process as a job: its memory is measured", async () => {
    const job = spawn("/bin/sleep", ["1000"], { detached: true, stdio: "ignore" });
    try {
      const line = readFileSync(`/proc/${job.pid}/stat`, "utf8");
      const started = line.slice(line.lastIndexOf(")") + 2).split(" ")[19];
      const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
      await files.write("s/batches/b/slots/0/claim", "5 1 0 0 0 0 -\n");
      await files.write("s/batches/b/slots/0/loop", `${job.pid} ${started} ${boot}`);
      await files.write("s/batches/b/slots/0/job", `${job.pid} ${started} ${boot.trim()} k\n`);
      const { claims } = box.run({ bases: [files.path("s")], proc: "/proc" }).capacity;
      expect(claims[0]?.residentMb).toBeGreaterThan(0);
      expect(claims[0]?.residentMb).toBeLessThan(50);
    } finally {
      job.kill("SIGKILL");
    }
  });
});
