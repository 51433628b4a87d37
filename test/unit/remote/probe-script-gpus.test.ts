import { execFileSync } from "node:child_process";
import { symlink } from "node:fs/promises";
import { userInfo } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JETSON, type StandInState } from "../../rig/gpus.js";
import { killAll, pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
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

  test.each<[string, StandInState, string]>([
    ["no devices", { gpus: [], failure: "no-devices" }, "No devices were found"],
    ["no driver", { gpus: [{}], failure: "no-driver" }, "couldn't communicate with the NVIDIA driver"],
    ["two versions", { gpus: [{}], failure: "mismatch" }, "Driver/library version mismatch"],
    ["no library", { gpus: [{}], failure: "no-library" }, "couldn't find libnvidia-ml.so"],
  ])("%s: the tool's message", (_, state, said) => {
    box.withGpus(state);
    const { capacity } = box.run();
    expect(capacity.gpus).toEqual([]);
    expect(capacity.gpuProblem).toContain(said);
  });

  test("a driver that does not know all fields", () => {
    box.withGpus({ gpus: [{}], refuse: ["mig.mode.current"] });
    expect(box.run().capacity).toMatchObject({ gpus: [{ utilization: 0 }], gpuProblem: null });
    box.withGpus({ gpus: [{}], refuse: ["compute_mode"] });
    expect(box.run().capacity).toMatchObject({ gpus: [{ utilization: null, memoryFreeMb: 24268 }] });
  });

  test("a warning before the rows is kept as the message, and the cards are used", () => {
    const warning = "WARNING: infoROM is corrupted at gpu 0000:02:00.0";
    box.withGpus({ gpus: [{}], warnings: [warning] });
    expect(box.run().capacity).toMatchObject({
      gpus: [{ unusable: null, memoryFreeMb: 24268 }],
      gpuProblem: warning,
    });
  });

  test("a Jetson: no GPU- in its UUID, and nothing to read but its name", async () => {
    box.withGpus({ gpus: [JETSON] });
    const { capacity, lines } = box.run();
    expect(capacity).toMatchObject({
      gpus: [{ uuid: JETSON.uuid, sharesHostMemory: true }],
      gpuProblem: null,
    });
    expect(lines.filter((line) => line.startsWith("smi-"))).toHaveLength(1);
    await files.write("proc/device-tree/compatible", "nvidia,p3971\0nvidia,tegra264\0");
    box.withGpus({ gpus: [{ ...JETSON, name: "Next" }] });
    expect(box.run().capacity.gpus).toMatchObject([{ sharesHostMemory: true }]);
  });

  test("one lost card does not hide the others", () => {
    box.withGpus({ gpus: [{}, { isLost: true }, {}] });
    const { gpus, gpuProblem } = box.run().capacity;
    expect(gpus.map(({ index }) => index)).toEqual([0, 2]);
    expect(gpuProblem).toContain("GPU is lost");
  });

  test("MIG slices, and a mark on the card that has them", () => {
    const slices = [{ profile: "1g.5gb", uuid: "MIG-1", memoryTotal: 4864, memoryFree: 4800 }];
    box.withGpus({ gpus: [{}, { slices }] });
    expect(box.run().capacity.gpus).toMatchObject([
      { unusable: null },
      { unusable: "is split into MIG slices" },
      { uuid: "MIG-1", index: 1, isMig: true, memoryTotalMb: 4864, memoryFreeMb: 4800 },
    ]);
  });

  test("compute instances of one GPU instance share its memory", () => {
    const slice = (uuid: string, instance: number, profile = "1c.3g.20gb") => ({
      profile,
      uuid,
      memoryTotal: 19968,
      memoryFree: 19900,
      instance,
    });
    box.withGpus({
      gpus: [{ slices: [slice("MIG-1", 1), slice("MIG-2", 1), slice("MIG-3", 2, "3g.20gb")] }],
    });
    const [card, ...slices] = box.run().capacity.gpus;
    expect(card).not.toHaveProperty("memoryGroup");
    expect(slices.map(({ uuid, memoryGroup }) => [uuid, memoryGroup])).toEqual([
      ["MIG-1", `${card?.uuid}/1`],
      ["MIG-2", `${card?.uuid}/1`],
      ["MIG-3", undefined],
    ]);
    expect(slices).toMatchObject([{ memoryFreeMb: 19900 }, { memoryFreeMb: 19900 }, { memoryFreeMb: 19900 }]);
  });

  test("who holds an exclusive card", () => {
    const processes = [{ pid: 42, memory: 100, name: "python" }];
    box.withGpus({
      gpus: [{ computeMode: "Exclusive_Process" }, { computeMode: "Exclusive_Process", processes }],
    });
    expect(box.run().capacity.gpus).toMatchObject([
      { isExclusive: true, unusable: null },
      { unusable: "is held by a process (compute mode Exclusive_Process)" },
    ]);
  });

  /** Its group and session, of a process whose parent is `parent`. */
  const stat = (pid: number, parent: number, session: number, started = 5000) =>
    `${pid} (a) b) S ${parent} ${session} ${session} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 ${started} 0 25 0\n`;

  test("who is on a card that looks used: account, program, memory, and whether a claim explains it", async () => {
    await files.write("proc/1/stat", stat(1, 0, 1));
    await files.write("proc/70/stat", stat(70, 1, 70));
    await files.write("proc/71/stat", stat(71, 70, 71, 5001));
    await files.write("proc/72/stat", stat(72, 71, 72));
    await files.write("proc/72/comm", "train me\n");
    await files.write("proc/90/stat", stat(90, 1, 90));
    await files.write("proc/90/comm", "python3\n");
    await files.write("s/batches/b/slots/0/claim", "5 1 0 0 0 0 GPU-a\n");
    await files.write("s/batches/b/slots/0/loop", `70 5000 ${BOOT_ID}\n`);
    await files.write("s/batches/b/slots/0/job", `71 5001 ${BOOT_ID} k\n`);
    const processes = [
      { pid: 72, memory: 1800, name: "/usr/bin/python3.11" },
      { pid: 90, memory: "[N/A]", name: "/usr/bin/python3" },
      { pid: 4000, memory: 12, name: "/opt/my app/run,it" },
      { pid: 4001, memory: 12, name: "[Not Found]" },
    ];
    box.withGpus({ gpus: [{ uuid: "GPU-a", memoryFree: 20_000, processes }, { utilization: 100 }] });
    const [first, second] = box.run({ bases: [files.path("s")] }).capacity.gpus;
    const user = userInfo().username;
    expect(first?.holders).toEqual([
      { pid: 72, user, program: "train me", memoryMb: 1800, isClaimed: true, isOwn: true },
      { pid: 90, user, program: "python3", memoryMb: null, isClaimed: false, isOwn: true },
      { pid: 4000, user: "", program: "run, it", memoryMb: 12, isClaimed: false },
      { pid: 4001, user: "", program: "", memoryMb: 12, isClaimed: false },
    ]);
    expect(second?.holders).toEqual([]);
  });

  test("idle cards cost no question about processes, and a warning does not hide the answer", () => {
    const processes = [{ pid: 42, memory: 100, name: "python" }];
    box.withGpus({ gpus: [{ processes }] });
    expect(box.run().lines.filter((line) => line.startsWith("smi-process"))).toEqual([]);
    box.withGpus({
      gpus: [{ utilization: 100 }],
      warnings: ["WARNING: infoROM is corrupted at gpu 0000:02:00.0"],
    });
    expect(box.run().capacity.gpus).toMatchObject([{ utilization: 1, holders: [] }]);
  });

  test("CUDA_VISIBLE_DEVICES as it is on the machine, also an empty one", () => {
    box.withGpus({ gpus: [{}, {}] });
    expect(
      box.run({ env: { CUDA_VISIBLE_DEVICES: "1" } }).capacity.gpus.map(({ unusable }) => unusable),
    ).toEqual(["is hidden by CUDA_VISIBLE_DEVICES=1", null]);
    expect(
      box.run({ env: { CUDA_VISIBLE_DEVICES: "" } }).capacity.gpus.every(({ unusable }) => unusable),
    ).toBe(true);
  });

  test("a tool that hangs is ended, and the machine serves jobs that need no card", async () => {
    box.withGpus({ gpus: [{}], failure: "hang" });
    const { capacity, isComplete } = box.run({ gpuSeconds: "0.3" });
    expect(isComplete).toBe(true);
    expect(capacity).toMatchObject({
      memory: { freeMb: 8000 },
      gpus: [],
      gpuProblem: "no answer from the GPU tools within 0.3 s",
    });
    await until("nothing is left of the tool", () => pidsWithHome(files.dir).length === 0);
  });

  test("a tool that cannot be ended does not block the probe", async () => {
    // No signal to the tool reaches the process that holds its output open.
    await files.write("bin/nvidia-smi", "#!/bin/sh\nsetsid sleep 1000 &\n");
    try {
      expect(box.run({ gpuSeconds: "0.3" }).isComplete).toBe(true);
    } finally {
      killAll(pidsWithHome(files.dir));
    }
  });

  test("a tool that answers leaves no watchdog behind", async () => {
    box.withGpus({ gpus: [{}] });
    expect(box.run({ gpuSeconds: "1000" }).capacity.gpus).toHaveLength(1);
    await until("nothing is left of the watchdog", () => pidsWithHome(files.dir).length === 0);
  });

  /** A card of the kfd topology; `facts` are files of its device. */
  async function amdCard(node: number, facts: Record<string, string>): Promise<string> {
    const device = `sys/class/drm/renderD${128 + node}/device`;
    const properties = `simd_count 160\nsimd_per_cu 2\ndrm_render_minor ${128 + node}\n`;
    await files.write(`sys/class/kfd/kfd/topology/nodes/${node}/gpu_id`, "4711\n");
    await files.write(`sys/class/kfd/kfd/topology/nodes/${node}/properties`, properties);
    const all = {
      vendor: "0x1002",
      mem_info_vram_total: "17179869184",
      mem_info_vram_used: "1073741824",
      ...facts,
    };
    for (const [name, fact] of Object.entries(all)) await files.write(`${device}/${name}`, `${fact}\n`);
    return files.path(device);
  }

  test("AMD cards, from the nodes of the kfd topology", async () => {
    await files.write("sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
    await amdCard(1, { unique_id: "5a1b2c3d4e5f6071", gpu_busy_percent: "25" });
    expect(box.run().capacity.gpus).toMatchObject([
      { vendor: "amd", uuid: "GPU-5a1b2c3d4e5f6071", memoryFreeMb: 15360, utilization: 0.25, index: 0 },
    ]);
  });

  test("an AMD GPU with the host's memory, by way of GTT", async () => {
    await amdCard(1, {
      mem_info_vram_total: "536870912",
      mem_info_vram_used: "0",
      mem_info_gtt_total: "118111600640",
      mem_info_gtt_used: "1073741824",
      mem_info_vram_vendor: "unknown",
    });
    expect(box.run().capacity.gpus).toMatchObject([
      { sharesHostMemory: true, memoryTotalMb: 512 + 112640, memoryFreeMb: 512 + 111616, unusable: null },
    ]);
  });

  test("an AMD card that fails a question is not used; one that says nothing is", async () => {
    const failing = await amdCard(1, { unique_id: "a7" });
    // Reading the memory of a process from its beginning fails with EIO.
    await symlink("/proc/self/mem", `${failing}/gpu_busy_percent`);
    await amdCard(2, { unique_id: "b7", gpu_busy_percent: "" });
    expect(box.run().capacity.gpus).toMatchObject([
      { uuid: "GPU-a7", unusable: "fails to answer (a reboot may bring it back)" },
      { uuid: "GPU-b7", unusable: null, utilization: null },
    ]);
  });

  test("an AMD card that blocks its reader hides neither the others nor NVIDIA cards", async () => {
    const hanging = await amdCard(1, { unique_id: "a7" });
    execFileSync("mkfifo", [`${hanging}/gpu_busy_percent`]);
    await amdCard(2, { unique_id: "b7", gpu_busy_percent: "0" });
    box.withGpus({ gpus: [{}] });
    const { capacity, isComplete } = box.run({ gpuSeconds: "3" });
    expect(isComplete).toBe(true);
    expect(capacity.gpus).toMatchObject([
      { vendor: "nvidia", unusable: null },
      { vendor: "amd", index: 0, unusable: "does not answer" },
      { vendor: "amd", index: 1, uuid: "GPU-b7", unusable: null },
    ]);
    await until("no reader is left", () => pidsWithHome(files.dir).length === 0);
  });
});
