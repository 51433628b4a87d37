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

  const ORIN = "smi 0, 54b4fb2c-d9f0-5a8c-8c4f-1c2d3e4f5a6b, [N/A], [N/A], [N/A], [N/A], [N/A],";
  test.each([
    ["a Jetson by its name", [`${ORIN} Orin (nvgpu)`]],
    ["a Jetson by the device tree", [`${ORIN} Next`, "tegra"]],
    ["a Jetson that supports nothing", [`${ORIN.replaceAll("N/A", "Not Supported")} Orin (nvgpu)`]],
  ])("unified memory, of which nothing can be read: %s", (_, lines) => {
    expect(parse(...lines)).toMatchObject({
      gpus: [{ index: 0, sharesHostMemory: true, unusable: null, utilization: null, memoryFreeMb: null }],
      gpuProblem: null,
    });
  });

  test("a Jetson that is listed but gives no row", () => {
    const uuid = "54b4fb2c-d9f0-5a8c-8c4f-1c2d3e4f5a6b";
    expect(parse(`smi-card GPU 0: Orin (nvgpu) (UUID: ${uuid})`).gpus).toMatchObject([
      { uuid, unusable: "does not answer" },
    ]);
  });

  test.each([
    ["the question failed", ["smi-process Failed to query processes: Unknown Error"], undefined],
    ["a row of which nothing can be read is a process", ["smi-process GPU-0, [N/A], [N/A], -"], 1],
    ["no process", ["smi-process "], 0],
    ["another card's", ["smi-process GPU-9, 1, 2, x"], 0],
  ])("processes: %s", (_, lines, count) => {
    expect(parse(row({}), ...lines).gpus[0]?.holders?.length).toBe(count);
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

  /** `cells`: what is there of it, as sysfs has it. */
  function card(
    node: number,
    {
      units = 60,
      id = "-",
      total = 64 * GB,
      used = GB,
      busy = 12,
      gtt = 32 * GB,
      maker = "samsung",
      ...cells
    }: Card = {},
  ): string[] {
    const key = `renderD${120 + node} ${node}`;
    const rest = `${cells.gttUsed ?? 0} ${maker} 0x740f ${cells.product ?? "-"}`;
    return [
      `amd-card ${key}`,
      `amd ${key} ${units * 2} 2 0x1002 ${id} ${total} ${used} ${busy} ${gtt} ${rest}`,
    ];
  }

  interface Card {
    readonly units?: number;
    readonly id?: string;
    readonly total?: number | string;
    readonly used?: number | string;
    readonly busy?: number | string;
    readonly gtt?: number | string;
    readonly gttUsed?: number;
    readonly maker?: string;
    readonly product?: string;
  }

  const small = card(9, { units: 2, total: GB / 2, used: 0, gtt: 16 * GB, maker: "unknown" });
  const strixHalo = {
    units: 40,
    total: GB / 2,
    used: GB / 4,
    gtt: 110 * GB,
    gttUsed: 10 * GB,
    maker: "unknown",
  };

  test("cards in the order of their nodes", () => {
    expect(parseProbe(["no-smi", ...card(10, { id: "b7" }), ...card(2, { id: "a7" })])).toMatchObject({
      gpus: [
        {
          vendor: "amd",
          index: 0,
          uuid: "GPU-a7",
          name: "AMD GPU 0x740f",
          memoryTotalMb: 65536,
          memoryFreeMb: 64512,
          utilization: 0.12,
          sharesHostMemory: false,
        },
        { index: 1, uuid: "GPU-b7" },
      ],
      gpuProblem: null,
    });
  });

  test("an integrated one is left out beside a real one, but keeps its number", () => {
    expect(parseProbe([...small, ...card(10, { id: "b7" })]).gpus).toMatchObject([
      { index: 1, uuid: "GPU-b7" },
    ]);
    expect(parse(row({}), ...small).gpus).toMatchObject([{ vendor: "nvidia" }]);
    expect(parse(row({}), ...card(9, strixHalo)).gpus).toMatchObject([{ vendor: "nvidia" }]);
  });

  test("a lone integrated one is no card to compute with", () => {
    const only = "of AMD only an integrated GPU, which is too small to compute with";
    expect(parseProbe(["no-smi", ...small])).toMatchObject({
      gpus: [],
      gpuProblem: `no NVIDIA driver (no nvidia-smi), and ${only}`,
    });
    expect(parseProbe(["no-smi", ...card(1, { ...strixHalo, units: Number.NaN })]).gpus).toEqual([]);
  });

  test.each([
    ["the firmware gives it 512 MB", GB / 2, 512],
    ["the firmware gives it 4 GB", 4 * GB, 4096],
  ])("a large integrated one uses the host's memory, by way of GTT: %s", (_, total, ownMb) => {
    expect(parseProbe(card(1, { ...strixHalo, total, used: 0 })).gpus).toMatchObject([
      {
        uuid: "renderD121",
        sharesHostMemory: true,
        memoryTotalMb: ownMb + 110 * 1024,
        memoryFreeMb: ownMb + 100 * 1024,
        unusable: null,
      },
    ]);
  });

  test("an integrated one to which the firmware gives most memory, and an old card, have memory of their own", () => {
    const given = card(1, { ...strixHalo, total: 96 * GB, used: 0, gtt: 16 * GB });
    expect(parseProbe(given).gpus).toMatchObject([{ memoryTotalMb: 96 * 1024, sharesHostMemory: false }]);
    const old = card(1, { total: 8 * GB, used: 0, gtt: 32 * GB, maker: "micron" });
    expect(parseProbe(old).gpus).toMatchObject([{ memoryTotalMb: 8192, sharesHostMemory: false }]);
  });

  test("what cannot be read is unknown", () => {
    const [listed = "", answer = ""] = card(1, {
      id: "a7",
      total: GB,
      used: "-",
      busy: "-",
      product: "Instinct MI210 card",
    });
    expect(parseProbe([listed, answer]).gpus).toMatchObject([
      {
        name: "Instinct MI210 card",
        memoryTotalMb: 1024,
        memoryFreeMb: null,
        utilization: null,
        unusable: null,
      },
    ]);
    expect(parseProbe([listed, answer.replace("0x1002", "0x10de")]).gpus).toEqual([]);
    expect(parseProbe(["amd-card renderD x", "amd-card"]).gpus).toEqual([]);
  });

  test.each([
    ["its use", { busy: "!" }],
    ["its memory", { used: "!" }],
  ])("a card that fails to answer about %s is not used", (_, facts) => {
    expect(parseProbe(card(1, { id: "a7", ...facts })).gpus).toMatchObject([
      { unusable: "fails to answer (a reboot may bring it back)" },
    ]);
  });

  test("a card that gives no answer in time is shown, keeps its number, and is not used", () => {
    expect(parseProbe(["amd-card renderD121 1", ...card(2, { id: "a7" }), "late 10"])).toMatchObject({
      gpus: [
        { index: 0, uuid: "renderD121", unusable: "does not answer" },
        { index: 1, uuid: "GPU-a7", unusable: null },
      ],
      gpuProblem: "no answer from the GPU tools within 10 s",
    });
  });
});
