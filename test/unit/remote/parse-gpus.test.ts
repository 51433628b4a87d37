import { describe, expect, test } from "vitest";
import type { Gpu } from "../../../src/model/machine.js";
import { parseProbe } from "../../../src/remote/probe/parse-probe.js";

const FIELDS =
  "smi-fields index,uuid,memory.total,memory.free,utilization.gpu,compute_mode,mig.mode.current,name";

function parse(...lines: string[]) {
  return parseProbe([FIELDS, ...lines]);
}

function row(cells: {
  index?: number;
  total?: string;
  free?: string;
  use?: string;
  mode?: string;
  mig?: string;
}): string {
  const { index = 0, total = "24576", free = "24000", use = "7", mode = "Default", mig = "[N/A]" } = cells;
  return `smi ${index}, GPU-${index}, ${total}, ${free}, ${use}, ${mode}, ${mig}, NVIDIA A100`;
}

describe("NVIDIA", () => {
  test("a card; its name may contain commas", () => {
    expect(parse("smi 1, GPU-1a-2b, 24576, 24000, 7, Default, [N/A], NVIDIA Tesla, odd").gpus).toEqual([
      {
        vendor: "nvidia",
        index: 1,
        uuid: "GPU-1a-2b",
        name: "NVIDIA Tesla, odd",
        memoryTotalMb: 24576,
        memoryFreeMb: 24000,
        utilization: 0.07,
        unusable: null,
        isExclusive: false,
        sharesHostMemory: false,
        isMig: false,
      },
    ]);
  });

  test("an old driver answers fewer fields", () => {
    const lines = ["smi-fields index,uuid,memory.total,memory.free,name", "smi 0, GPU-0, 100, 90, Tesla K80"];
    expect(parseProbe(lines).gpus).toMatchObject([
      { name: "Tesla K80", memoryFreeMb: 90, utilization: null },
    ]);
  });

  test.each<[string, string, Partial<Gpu>]>([
    ["memory not available", row({ free: "[N/A]", total: "24576" }), { memoryFreeMb: null, unusable: null }],
    [
      "no permission",
      row({ free: "[Insufficient Permissions]" }),
      { memoryFreeMb: null, sharesHostMemory: false },
    ],
    ["utilisation not supported", row({ use: "[Not Supported]" }), { utilization: null, unusable: null }],
    ["utilisation beyond 100", row({ use: "4294967295" }), { utilization: null }],
    ["more free than there is", row({ free: "99999" }), { memoryFreeMb: null }],
    ["unified memory", row({ total: "[N/A]", free: "[N/A]" }), { sharesHostMemory: true }],
    ["nothing known", row({ total: "[N/A]", free: "[N/A]", use: "[N/A]" }), { sharesHostMemory: false }],
    ["lost", row({ use: "[GPU is lost]" }), { unusable: "is lost (a reboot may bring it back)" }],
    [
      "the emptiest of all",
      row({ free: "24576", use: "[GPU requires reset]" }),
      { unusable: "needs a reset" },
    ],
    ["unknown error", row({ free: "[Unknown Error]" }), { unusable: "reports an error", memoryFreeMb: null }],
    ["ERR!", row({ use: "ERR!" }), { unusable: "reports an error" }],
    ["exclusive", row({ mode: "Exclusive_Process" }), { isExclusive: true, unusable: null }],
    ["prohibited", row({ mode: "Prohibited" }), { unusable: "has compute mode Prohibited" }],
  ])("%s", (_, line, facts) => {
    expect(parse(line).gpus).toMatchObject([facts]);
  });

  test("an exclusive card that a process holds is not usable, even if it idles", () => {
    const found = parse(row({ mode: "Exclusive_Process", use: "0" }), "smi-process GPU-0, 4242");
    expect(found.gpus[0]?.unusable).toBe("is held by a process (compute mode Exclusive_Process)");
  });

  test.each([
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
    "Failed to initialize NVML: Driver/library version mismatch",
    "No devices were found",
    "0, GPU-0, 24576",
    "x, GPU-0, 24576, 24000, 0, Default, [N/A], NVIDIA A100",
    "0, 0000:01:00.0, 24576, 24000, 0, Default, [N/A], NVIDIA A100",
  ])("a line that is no row is the message: %s", (said) => {
    expect(parse(`smi ${said}`, "smi ")).toMatchObject({ gpus: [], gpuProblem: said });
  });

  test("cards are kept if there is a message about another one", () => {
    const said = "Unable to determine the device handle for GPU0000:0B:00.0: GPU is lost.";
    const found = parse(
      `smi ${said}`,
      "smi-card GPU 0: NVIDIA A100 (UUID: GPU-0)",
      row({ index: 0 }),
      `smi ${said}`,
    );
    expect(found).toMatchObject({ gpus: [{ index: 0, unusable: null }], gpuProblem: said });
  });

  test("a card that is listed without a row is shown, and not used", () => {
    const found = parse("smi-card GPU 1: NVIDIA A100 (UUID: GPU-1)", row({ index: 0 }));
    expect(found.gpus).toMatchObject([
      { index: 0 },
      { index: 1, uuid: "GPU-1", unusable: "does not answer" },
    ]);
  });

  test("no tool at all, or no answer in time", () => {
    expect(parseProbe(["no-smi"]).gpuProblem).toBe("no NVIDIA driver (no nvidia-smi) and no AMD card");
    expect(parseProbe(["late 10"]).gpuProblem).toBe("no answer from the GPU tools within 10 s");
  });

  test("MIG: the slices are devices, the card is not", () => {
    const xml = (index: number, free: number) => [
      "smi-slice <mig_device>",
      `smi-slice <index>${index}</index>`,
      `smi-slice <fb_memory_usage>`,
      `smi-slice <total>4864 MiB</total>`,
      `smi-slice <free>${free} MiB</free>`,
      "smi-slice </fb_memory_usage>",
      "smi-slice <bar1_memory_usage>",
      "smi-slice <total>9 MiB</total>",
      "smi-slice <free>9 MiB</free>",
      "smi-slice </mig_device>",
    ];
    const found = parse(
      row({ index: 0 }),
      row({ index: 1, mig: "Enabled" }),
      "smi-card GPU 0: NVIDIA A100 (UUID: GPU-0)",
      "smi-card GPU 1: NVIDIA A100 (UUID: GPU-1)",
      "smi-card   MIG 1g.5gb      Device  0: (UUID: MIG-a-b)",
      "smi-card   MIG 2g.10gb     Device  1: (UUID: MIG-GPU-1/7/0)",
      'smi-slice <gpu id="0">',
      "smi-slice <uuid>GPU-0</uuid>",
      'smi-slice <gpu id="1">',
      ...xml(0, 4000),
      ...xml(1, 4800),
      "smi-slice <uuid>GPU-1</uuid>",
    );
    expect(found.gpus).toMatchObject([
      { index: 0, isMig: false, unusable: null },
      { index: 1, isMig: false, unusable: "is split into MIG slices" },
      {
        index: 1,
        isMig: true,
        uuid: "MIG-a-b",
        name: "NVIDIA A100 MIG 1g.5gb",
        memoryFreeMb: 4000,
        unusable: null,
      },
      {
        index: 1,
        isMig: true,
        uuid: "MIG-GPU-1/7/0",
        memoryTotalMb: 4864,
        memoryFreeMb: 4800,
        utilization: null,
      },
    ]);
  });

  test.each([
    ["1", [1]],
    ["GPU-2,0", [0, 2]],
    ["0,7,1", [0]],
    ["", []],
    ["-1", []],
    ["NoDevFiles", []],
    ["all", []],
  ])("CUDA_VISIBLE_DEVICES=%s on the machine is respected", (value, usable) => {
    const rows = [0, 1, 2].map((index) => row({ index }));
    const { gpus } = parse(`visible cuda ${value}`, ...rows);
    expect(gpus).toHaveLength(3);
    expect(gpus.filter(({ unusable }) => unusable === null).map(({ index }) => index)).toEqual(usable);
  });
});

describe("AMD", () => {
  const GB = 2 ** 30;
  const real = (node: number, id: string) =>
    `amd renderD${128 + node} ${node} 0x1002 ${id} ${64 * GB} ${GB} 12 0x740f -`;
  const integrated = `amd renderD130 9 0x1002 - ${GB / 2} 0 3 0x164e -`;

  test("cards in the order of their nodes", () => {
    expect(parseProbe(["no-smi", real(10, "b7"), real(2, "a7")])).toMatchObject({
      gpus: [
        {
          vendor: "amd",
          index: 0,
          uuid: "GPU-a7",
          name: "AMD GPU 0x740f",
          memoryTotalMb: 65536,
          memoryFreeMb: 64512,
          utilization: 0.12,
        },
        { index: 1, uuid: "GPU-b7" },
      ],
      gpuProblem: null,
    });
  });

  test("an integrated card is left out if there is a real one, but keeps its number", () => {
    expect(parseProbe([integrated, real(10, "b7")]).gpus).toMatchObject([{ index: 1, uuid: "GPU-b7" }]);
    expect(parseProbe([integrated]).gpus).toMatchObject([{ index: 0, uuid: "renderD130" }]);
    expect(parse(row({}), integrated).gpus).toMatchObject([{ vendor: "nvidia" }]);
  });

  test("unreadable values are unknown", () => {
    const line = `amd renderD128 1 0x1002 a7 ${GB} - - 0x1 Instinct MI210 card`;
    expect(parseProbe([line]).gpus).toMatchObject([
      { name: "Instinct MI210 card", memoryTotalMb: 1024, memoryFreeMb: null, utilization: null },
    ]);
  });
});
