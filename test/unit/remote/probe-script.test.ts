// Runs probe.sh for real, under each shell it must run under, on trees that stand for /proc and /sys.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseProbe } from "../../../src/remote/parse-probe.js";
import { probeScript } from "../../../src/remote/probe.js";
import { STAND_IN_BIN, type StandInState, saveGpus } from "../../rig/gpus.js";
import { until } from "../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";

const BOOT_ID = "5b1f9a52-0000-4000-8000-000000000000";
const NONCE = "sshoal-nonce";

const TREE = {
  "proc/uptime": "1000.08 1\n",
  "proc/stat": "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 100 0 0 900 0 0 0 0 0 0\n",
  "proc/meminfo":
    "MemTotal:       16384000 kB\nMemFree: 1 kB\nMemAvailable:    8192000 kB\nSwapFree: 9999999 kB\n",
  "proc/self/status": "Name:\tsh\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n",
  "proc/self/cgroup": "0::/\n",
  "proc/self/smaps": "00400000-00401000 r--p 00000000 08:01 1\nSize: 4 kB\nKernelPageSize:        4 kB\n",
  "proc/sys/kernel/hostname": "box\n",
  "proc/sys/kernel/random/boot_id": `${BOOT_ID}\n`,
};

const SHELLS: [string, ...string[]][] = [["dash"], ["bash"], ["busybox", "ash"]];

describe.each(SHELLS)("under %s %s", (shell, ...words) => {
  let box: Workspace;

  beforeEach(async () => {
    box = await makeWorkspace(TREE);
  });
  afterEach(() => box.remove());

  interface Circumstances {
    readonly bases?: readonly string[];
    readonly env?: Record<string, string>;
    readonly before?: string;
    readonly after?: string;
    readonly proc?: string;
    readonly gpuSeconds?: string;
  }

  function run({
    bases = [],
    env = {},
    before = "",
    after = "",
    proc,
    gpuSeconds = "60",
  }: Circumstances = {}) {
    const settings = {
      proc: proc ?? box.path("proc"),
      sys: box.path("sys"),
      gpu_seconds: gpuSeconds,
      apart: proc === "/proc" ? "20" : "0", // on a fixed tree there is nothing to wait for
    };
    const script = `${before}\n${probeScript(NONCE, bases, settings)}\n${after}`;
    const PATH = `${box.path("bin")}:${STAND_IN_BIN}:/usr/bin:/bin`;
    const { stdout, stderr } = spawnSync(shell, [...words.filter(Boolean), "-c", 'eval "$1"', "sh", script], {
      env: { PATH, HOME: box.dir, NVIDIA_SMI_STATE: box.path("state"), ...env },
      input: "left alone\n",
      encoding: "utf8",
      timeout: 30_000,
    });
    const framed = stdout.split("\n").filter((line) => line.startsWith(`${NONCE} `));
    const lines = framed.map((line) => line.slice(NONCE.length + 1));
    return { stdout, stderr, lines, capacity: parseProbe(lines), isComplete: lines.at(-1) === "done" };
  }

  const withGpus = (state: StandInState) => saveGpus(box.path("state"), state);

  test("an ordinary machine: facts in order, cores and memory before the cards", () => {
    withGpus({ gpus: [{ memoryFree: 20000, utilization: 5 }, { name: "NVIDIA Tesla, odd" }] });
    const { lines, capacity, stderr, isComplete } = run();
    expect(lines.map((line) => line.split(" ")[0])).toEqual(
      "uptime stat hostname allowed meminfo meminfo meminfo smi-fields smi smi uptime stat done".split(" "),
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

  test("the last look at the cores comes after the cards", async () => {
    await box.write("proc/self/cgroup", "0::/pod\n");
    await box.write("sys/fs/cgroup/pod/cpu.max", "400000 100000\n");
    await box.write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 1000000\nuser_usec 1\n");
    await box.write(
      "bin/nvidia-smi",
      `#!/bin/sh
      echo '1001.08 1' >'${box.path("proc/uptime")}'
      echo 'cpu  150 0 0 950 0 0 0 0 0 0' >'${box.path("proc/stat")}'
      echo 'usage_usec 2500000' >'${box.path("sys/fs/cgroup/pod/cpu.stat")}'`,
    );
    expect(run().capacity.cpus).toEqual({ total: 4, free: 2.5 });
  });

  test("the real /proc of this computer can be read", () => {
    const { capacity, stderr } = run({ proc: "/proc" });
    expect(capacity.cpus?.total).toBeGreaterThan(0);
    expect(capacity.cpus?.free).toBeGreaterThanOrEqual(0);
    expect(capacity.memory?.freeMb).toBeGreaterThan(0);
    expect(stderr).toBe("");
  });

  test("limits of the own cgroup and of all above it, version 2", async () => {
    await box.write("proc/self/cgroup", "1:name=systemd:/x\n0::/a b/c:d\n");
    await box.write("sys/fs/cgroup/a b/c:d/memory.max", "max\n");
    await box.write("sys/fs/cgroup/a b/memory.max", "1073741824\n");
    await box.write("sys/fs/cgroup/a b/memory.current", "805306368\n");
    await box.write("sys/fs/cgroup/a b/memory.stat", "anon 5\ninactive_file 268435456\nslab 1\n");
    await box.write("sys/fs/cgroup/a b/cpu.max", "150000 100000\n");
    await box.write("sys/fs/cgroup/cpu.max", "max 100000\n");
    const { lines, capacity } = run();
    const dir = box.path("sys/fs/cgroup/a b");
    expect(lines).toContain(`memlimit 1073741824 805306368 268435456 ${dir}`);
    expect(lines.filter((line) => line.startsWith("cpulimit"))).toEqual(
      Array(2).fill(`cpulimit - us 150000 100000 ${dir}`),
    );
    expect(capacity.memory).toEqual({ totalMb: 1024, freeMb: 512 });
  });

  test("limits of version 1, in a container that sees its outer path", async () => {
    await box.write("proc/self/cgroup", "5:memory:/docker/1f\n4:cpu,cpuacct:/docker/1f\n0::/docker/1f\n");
    await box.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
    await box.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
    await box.write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 536870912\n");
    await box.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
    await box.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    await box.write("sys/fs/cgroup/cpuacct/cpuacct.usage", "77\n");
    const { lines, capacity } = run();
    expect(lines).toContain(`cpulimit 77 ns 200000 100000 ${box.path("sys/fs/cgroup/cpu")}`);
    expect(capacity.memory).toEqual({ totalMb: 2048, freeMb: 1536 });
  });

  test("no quota, and a path outside of what is shown", async () => {
    await box.write("proc/self/cgroup", "4:cpu:/\n0::/../../x\n");
    await box.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    await box.write("sys/fs/cgroup/memory.max", "1048576\n");
    await box.write("sys/fs/cgroup/memory.current", "0\n");
    const { lines } = run();
    expect(lines.filter((line) => line.startsWith("cpulimit"))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("memlimit"))).toEqual([
      `memlimit 1048576 0 - ${box.path("sys/fs/cgroup")}`,
    ]);
  });

  test("a machine of which nothing can be read still comes to its end", () => {
    const { capacity, isComplete } = run({ proc: box.path("nothing") });
    expect(isComplete).toBe(true);
    expect(capacity).toMatchObject({
      cpus: null,
      memory: null,
      gpus: [],
      gpuProblem: "No devices were found",
    });
  });

  test("noise before it, and what follows it on stdin, are left alone", async () => {
    await box.write("bin/nvidia-smi", "#!/bin/sh\ncat\n");
    const before = "echo Welcome; printf 'in colour \\033[31m'";
    const { stdout, capacity, isComplete } = run({ before, after: "cat" });
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

    async function slot(dir: string, files: { claim?: string; loop?: string; running?: string }) {
      for (const [name, text] of Object.entries(files)) await box.write(`${dir}/${name}`, text);
    }

    beforeEach(async () => {
      await box.write("proc/70/stat", stat(70, "sh", 70, 5000, 100));
      await box.write("proc/71/stat", stat(71, "odd) R 1 2 (3", 71, 5001, 25600));
      await box.write("proc/72/stat", stat(72, "worker", 71, 5002, 25600));
      await box.write("proc/73/stat", stat(73, "other", 73, 5003, 99999));
      await box.write("proc/74/stat", stat(74, "gone", 74, 5004, 0, "Z"));
    });

    test("a live slot's claim, and the memory of all processes of its job", async () => {
      await slot("home dir/.sshoal/batches/b1@box/slots/0", {
        claim: "7000 1 1000 0.75 1 0 GPU-a,GPU-b\n",
        loop: `70 5000 ${BOOT_ID}\n`,
        running: "0000001-1 71 5001\n",
      });
      const { capacity, stderr } = run({
        bases: ["~/.sshoal", "/none"],
        env: { HOME: box.path("home dir") },
      });
      expect(capacity.claims).toEqual([
        {
          batch: "b1",
          slot: "0",
          memoryMb: 7000,
          residentMb: 200,
          cpus: 1,
          gpuUuids: ["GPU-a", "GPU-b"],
          gpuMemoryMb: 1000,
          gpuUtilization: 0.75,
          reservesGpu: true,
          reservesMachine: false,
        },
      ]);
      expect(stderr).toBe("");
    });

    test.each([
      ["without a job", "", 0],
      ["whose job's pid belongs to another by now", "0000001-1 73 4000\n", 0],
      ["whose job has left children behind", "0000001-1 79 4000\n", 100],
    ])("a slot %s", async (_, running, residentMb) => {
      await box.write("proc/80/stat", stat(80, "child", 79, 5005, 25600));
      await slot("s/batches/b/slots/3", { claim: "5 1 0 0 0 1 -\n", loop: `70 5000 ${BOOT_ID}\n`, running });
      expect(run({ bases: [box.path("s")] }).capacity.claims).toMatchObject([
        { slot: "3", residentMb, gpuUuids: [], reservesMachine: true },
      ]);
    });

    test.each([
      ["the machine was started anew", "70 5000 another-boot\n", "5 1 0 0 0 0 -\n"],
      ["its pid belongs to another by now", `70 4999 ${BOOT_ID}\n`, "5 1 0 0 0 0 -\n"],
      ["it has ended", `99 5000 ${BOOT_ID}\n`, "5 1 0 0 0 0 -\n"],
      ["it has ended and its parent did not look", `74 5004 ${BOOT_ID}\n`, "5 1 0 0 0 0 -\n"],
      ["its loop file makes no sense", "../../etc 1 x\n", "5 1 0 0 0 0 -\n"],
      ["it has claimed nothing yet", `70 5000 ${BOOT_ID}\n`, ""],
    ])("a slot does not count when %s", async (_, loop, claim) => {
      await slot("s/batches/b/slots/0", { claim, loop });
      expect(run({ bases: [box.path("s")] }).capacity.claims).toEqual([]);
    });
  });

  test("a real process as a job: what it holds is seen", async () => {
    const job = spawn("/bin/sleep", ["1000"], { detached: true, stdio: "ignore" });
    try {
      const line = readFileSync(`/proc/${job.pid}/stat`, "utf8");
      const started = line.slice(line.lastIndexOf(")") + 2).split(" ")[19];
      const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
      await box.write("s/batches/b/slots/0/claim", "5 1 0 0 0 0 -\n");
      await box.write("s/batches/b/slots/0/loop", `${job.pid} ${started} ${boot}`);
      await box.write("s/batches/b/slots/0/running", `k ${job.pid} ${started}\n`);
      const { claims } = run({ bases: [box.path("s")], proc: "/proc" }).capacity;
      expect(claims[0]?.residentMb).toBeGreaterThan(0);
      expect(claims[0]?.residentMb).toBeLessThan(50);
    } finally {
      job.kill("SIGKILL");
    }
  });

  describe("cards", () => {
    test.each<[string, StandInState, string]>([
      ["no devices", { gpus: [], failure: "no-devices" }, "No devices were found"],
      ["no driver", { gpus: [{}], failure: "no-driver" }, "couldn't communicate with the NVIDIA driver"],
      ["two versions", { gpus: [{}], failure: "mismatch" }, "Driver/library version mismatch"],
      ["no library", { gpus: [{}], failure: "no-library" }, "couldn't find libnvidia-ml.so"],
    ])("%s: what the tool said", (_, state, said) => {
      withGpus(state);
      const { capacity } = run();
      expect(capacity.gpus).toEqual([]);
      expect(capacity.gpuProblem).toContain(said);
    });

    test("a driver that does not know all fields", () => {
      withGpus({ gpus: [{}], refuse: ["mig.mode.current"] });
      expect(run().capacity).toMatchObject({ gpus: [{ utilization: 0 }], gpuProblem: null });
      withGpus({ gpus: [{}], refuse: ["compute_mode"] });
      expect(run().capacity).toMatchObject({ gpus: [{ utilization: null, memoryFreeMb: 24268 }] });
    });

    test("one lost card does not hide the others", () => {
      withGpus({ gpus: [{}, { isLost: true }, {}] });
      const { gpus, gpuProblem } = run().capacity;
      expect(gpus.map(({ index }) => index)).toEqual([0, 2]);
      expect(gpuProblem).toContain("GPU is lost");
    });

    test("MIG slices, and a mark on the card that has them", () => {
      const slices = [{ profile: "1g.5gb", uuid: "MIG-1", memoryTotal: 4864, memoryFree: 4800 }];
      withGpus({ gpus: [{}, { slices }] });
      expect(run().capacity.gpus).toMatchObject([
        { unusable: null },
        { unusable: "is split into MIG slices" },
        { uuid: "MIG-1", index: 1, isMig: true, memoryTotalMb: 4864, memoryFreeMb: 4800 },
      ]);
    });

    test("who holds an exclusive card", () => {
      const processes = [{ pid: 42, memory: 100, name: "python" }];
      withGpus({
        gpus: [{ computeMode: "Exclusive_Process" }, { computeMode: "Exclusive_Process", processes }],
      });
      expect(run().capacity.gpus).toMatchObject([
        { isExclusive: true, unusable: null },
        { unusable: "is held by a process (compute mode Exclusive_Process)" },
      ]);
    });

    test("CUDA_VISIBLE_DEVICES as it is over there, also an empty one", () => {
      withGpus({ gpus: [{}, {}] });
      expect(
        run({ env: { CUDA_VISIBLE_DEVICES: "1" } }).capacity.gpus.map(({ unusable }) => unusable),
      ).toEqual(["is hidden by CUDA_VISIBLE_DEVICES=1", null]);
      expect(run({ env: { CUDA_VISIBLE_DEVICES: "" } }).capacity.gpus.every(({ unusable }) => unusable)).toBe(
        true,
      );
    });

    test("a tool that hangs is ended, and the machine serves jobs that need no card", async () => {
      await box.write("bin/nvidia-smi", `#!/bin/sh\necho $$ >'${box.path("pid")}'\nexec sleep 1000\n`);
      const { capacity, isComplete } = run({ gpuSeconds: "0.3" });
      expect(isComplete).toBe(true);
      expect(capacity).toMatchObject({
        memory: { freeMb: 8000 },
        gpus: [],
        gpuProblem: "no answer from the GPU tools within 0.3 s",
      });
      const pid = (await box.read("pid")).trim();
      await until("the tool is gone", () => !existsSync(`/proc/${pid}/cmdline`) || isZombie(pid));
    });

    test("a tool that cannot be ended keeps nobody waiting", async () => {
      // What holds the tool's output open cannot be reached by any signal to the tool.
      await box.write("bin/nvidia-smi", `#!/bin/sh\nsetsid sleep 1000 &\necho $! >'${box.path("pid")}'\n`);
      try {
        expect(run({ gpuSeconds: "0.3" }).isComplete).toBe(true);
      } finally {
        process.kill(Number(await box.read("pid")), "SIGKILL");
      }
    });

    test("AMD cards, from the nodes of the kfd topology", async () => {
      const device = "sys/class/drm/renderD129/device";
      await box.write("sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
      await box.write("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4711\n");
      await box.write(
        "sys/class/kfd/kfd/topology/nodes/1/properties",
        "simd_count 4\ndrm_render_minor 129\n",
      );
      await box.write(`${device}/vendor`, "0x1002\n");
      await box.write(`${device}/unique_id`, "5a1b2c3d4e5f6071\n");
      await box.write(`${device}/mem_info_vram_total`, "17179869184\n");
      await box.write(`${device}/mem_info_vram_used`, "1073741824\n");
      await box.write(`${device}/gpu_busy_percent`, "25\n");
      expect(run().capacity.gpus).toMatchObject([
        { vendor: "amd", uuid: "GPU-5a1b2c3d4e5f6071", memoryFreeMb: 15360, utilization: 0.25, index: 0 },
      ]);
    });
  });
});

function isZombie(pid: string): boolean {
  return existsSync(`/proc/${pid}/stat`) && readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
}
