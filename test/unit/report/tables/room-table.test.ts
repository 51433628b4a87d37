import { describe, expect, test } from "vitest";
import type { RoomLook } from "../../../../src/model/room-look.js";
import { type Canvas, formatSpans, lookOf } from "../../../../src/report/live/styled-text.js";
import { NARROWEST, type RoomOrder, roomTable } from "../../../../src/report/tables/room-table.js";
import { textWidth } from "../../../../src/report/text/width.js";
import { aCapacity, aCardClaim, aClaim, aHolder, gpus } from "../../plan/a-machine.js";

const NOW = 1_000_000;
const A100 = { name: "NVIDIA A100-SXM4-40GB", memoryTotalMb: 40 * 1024 };

function canvasOf(columns: number, useUnicode = true): Canvas {
  return { columns, rows: 24, now: NOW, look: lookOf({ useColour: false, useUnicode }) };
}

function tableOf(looks: readonly RoomLook[], order: RoomOrder = "machine", canvas = canvasOf(80)): string[] {
  return roomTable(looks, order, canvas).lines.map((line) => formatSpans(line, canvas).trimEnd());
}

function seen(machine: string, facts: Parameters<typeof aCapacity>[0]): RoomLook {
  return { machine, kind: "seen", at: NOW, capacity: aCapacity({ account: "ada", ...facts }) };
}

const job = aHolder({ user: "ada", program: "python", memoryMb: 28_000, isClaimed: true });
const looks: RoomLook[] = [
  seen("gpu1", {
    cpus: { total: 64, free: 42 },
    memory: { totalMb: 262_144, freeMb: 141_312 },
    gpus: gpus(
      { ...A100, uuid: "GPU-0", memoryFreeMb: 12_960, utilization: 0.97, holders: [job] },
      { ...A100, uuid: "GPU-1", memoryFreeMb: 40_960, holders: [] },
    ),
    claims: [
      aClaim({
        batch: "sweep.sh-0a1b2c3d",
        job: "14",
        residentMb: 50_000,
        cards: [aCardClaim({ uuid: "GPU-0" })],
      }),
    ],
  }),
  seen("gpu2", {
    cpus: { total: 24, free: 13 },
    memory: { totalMb: 131_072, freeMb: 92_160 },
    gpus: gpus(
      {
        memoryFreeMb: 14_540,
        utilization: 0.63,
        holders: [aHolder({ user: "bob", program: "python", memoryMb: 9800, isClaimed: false })],
      },
      { unusable: "needs a reset", memoryTotalMb: null, memoryFreeMb: null, utilization: null },
    ),
    claims: [aClaim({ owner: "carol", batch: "prep.sh-00000000", job: "3", residentMb: 4000 })],
  }),
  {
    machine: "cpu1",
    kind: "unreachable",
    reason: "connection refused",
    hint: null,
    since: NOW - 80_000,
    isRetried: true,
  },
  { machine: "cpu2", kind: "connecting" },
];

test("a row per card and one per machine: how full it is, by whom", () => {
  expect(tableOf(looks)).toEqual([
    "MACHINE CARD        MEMORY GB              USE  WHO",
    "gpu1    0 A100        27.3/40 ███████░░░   97%  sweep.sh 14",
    "        1 A100         0.0/40 ░░░░░░░░░░    0%",
    "        64 cores    118.0/256 ██▒▒▒░░░░░   34%",
    "gpu2    0 RTX 3090     9.8/24 ▒▒▒▒░░░░░░   63%  bob python",
    "        1 RTX 3090          -                -  not used: it needs a reset",
    "        24 cores     38.0/128 ▒▒▒░░░░░░░   46%  carol prep.sh 3",
    "cpu1    unreachable for 1m20s, trying again: connection refused",
    "cpu2    connecting",
  ]);
});

test("without UTF-8, signs are plain; below 60 columns there is no bar", () => {
  expect(tableOf(looks, "machine", canvasOf(80, false))[1]).toBe(
    "gpu1    0 A100        27.3/40 #######:::   97%  sweep.sh 14",
  );
  expect(tableOf(looks, "machine", canvasOf(50)).slice(0, 2)).toEqual([
    "MACHINE CARD        MEMORY GB   USE  WHO",
    "gpu1    0 A100        27.3/40   97%  sweep.sh 14",
  ]);
});

describe("sorted", () => {
  const labels = (order: RoomOrder) =>
    tableOf(looks, order)
      .slice(1)
      .map((line) => line.slice(0, 19).trim().replace(/ +/g, " "));

  test.each([
    ["memory" as const, ["gpu1 64 cores", "gpu2 24 cores", "gpu1 0 A100", "gpu2 0 RTX 3090", "gpu1 1 A100"]],
    ["use" as const, ["gpu1 0 A100", "gpu2 0 RTX 3090", "24 cores", "gpu1 64 cores", "1 A100"]],
    ["who" as const, ["gpu2 0 RTX 3090", "24 cores", "1 RTX 3090", "gpu1 0 A100"]],
  ])("by %s, each row with its machine; what has no value is last", (order, first) => {
    expect(labels(order).slice(0, first.length)).toEqual(first);
    expect(labels(order).slice(-2)).toEqual(["cpu1 unreachable", "cpu2 connecting"]);
  });
});

test("several jobs and processes on a card", () => {
  const claims = ["14", "15"].map((label) =>
    aClaim({ batch: "a.sh", job: label, cards: [aCardClaim({ uuid: "GPU-x" })] }),
  );
  const others = [
    aClaim({ owner: "bob", batch: "b.sh", job: "", cards: [aCardClaim({ uuid: "GPU-x" })] }),
    aClaim({ batch: "light.sh", job: "7" }),
  ];
  const holders = [1, 2].map((pid) =>
    aHolder({ pid, user: "eve\u001b[2J", program: "cat", isClaimed: false }),
  );
  const capacity = { gpus: gpus({ uuid: "GPU-x", holders }), claims: [...claims, ...others] };
  const [, card = "", host = ""] = tableOf([seen("a", capacity)], "machine", canvasOf(200));
  expect(card.slice(48)).toBe("a.sh 14, 15, bob b.sh, eve\\x1b[2J cat (2)");
  expect(host).toMatch(/ {2}light\.sh 7$/);
});

test("columns keep their widths", () => {
  const canvas = canvasOf(80);
  const wide = roomTable([seen("a-machine-with-a-name", {})], "machine", canvas).widths;
  expect(wide.machine).toBe("a-machine-with-a-name".length);
  expect(roomTable([seen("a", {})], "machine", canvas, wide).widths).toEqual(wide);
  expect(roomTable([], "machine", canvas).widths).toEqual(NARROWEST);
});

test.each([20, 40, 60, 80, 200])("%i columns are never exceeded", (columns) => {
  const odd = { ...looks[0], machine: "very-long-".repeat(9) } as RoomLook;
  for (const line of tableOf([odd, ...looks], "machine", canvasOf(columns)))
    expect(textWidth(line)).toBeLessThanOrEqual(columns);
});

test("a machine that has been silent for long is pointed out", () => {
  const [look] = looks;
  const late = { ...look, at: NOW - 25_000 } as RoomLook;
  expect(tableOf([late]).at(-1)).toBe("        no answer for 25s");
});
