import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StandInState } from "../../rig/gpus.js";
import { killAll, pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
import type { Workspace } from "../../rig/workspace.js";
import { ProbeBox, SHELLS } from "./probe-box.js";

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

  test("the process that holds an exclusive card", () => {
    const processes = [{ pid: 42, memory: 100, name: "python" }];
    box.withGpus({
      gpus: [{ computeMode: "Exclusive_Process" }, { computeMode: "Exclusive_Process", processes }],
    });
    expect(box.run().capacity.gpus).toMatchObject([
      { isExclusive: true, unusable: null },
      { unusable: "is held by a process (compute mode Exclusive_Process)" },
    ]);
  });

  test("CUDA_VISIBLE_DEVICES as set on the machine, even if empty", () => {
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

  test("AMD cards, from the nodes of the kfd topology", async () => {
    const device = "sys/class/drm/renderD129/device";
    await files.write("sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
    await files.write("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4711\n");
    await files.write(
      "sys/class/kfd/kfd/topology/nodes/1/properties",
      "simd_count 4\ndrm_render_minor 129\n",
    );
    await files.write(`${device}/vendor`, "0x1002\n");
    await files.write(`${device}/unique_id`, "5a1b2c3d4e5f6071\n");
    await files.write(`${device}/mem_info_vram_total`, "17179869184\n");
    await files.write(`${device}/mem_info_vram_used`, "1073741824\n");
    await files.write(`${device}/gpu_busy_percent`, "25\n");
    expect(box.run().capacity.gpus).toMatchObject([
      { vendor: "amd", uuid: "GPU-5a1b2c3d4e5f6071", memoryFreeMb: 15360, utilization: 0.25, index: 0 },
    ]);
  });
});
