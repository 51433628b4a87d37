// What `why` prints, word for word, from what was measured.

import { describe, expect, test } from "vitest";
import type { Job, Requirement } from "../../../../src/model/job.js";
import type { Capacity, MachineSpec } from "../../../../src/model/machine.js";
import type { WhyBatch, WhyJob } from "../../../../src/model/why.js";
import {
  explainWaiting,
  type MeasuredMachine,
  type WaitingJob,
} from "../../../../src/plan/why/explain-waiting.js";
import { whyJson, whyLines } from "../../../../src/report/tables/why-lines.js";
import { reasonLine } from "../../../../src/report/text/shortage-words.js";
import {
  aCapacity,
  aCardClaim,
  aClaim,
  aGpuNeed,
  aHolder,
  aNeed,
  aSpec,
  gpus,
} from "../../plan/a-machine.js";

const GB = 1024;
const JOB: Job = {
  id: 17,
  line: 17,
  name: "sweep.sh.17",
  command: "train",
  parameters: { lr: "1e-3", bs: "64" },
};
const NEED: Requirement = aNeed({ cpus: 4, memoryMb: 8 * GB, gpu: aGpuNeed({ memoryMb: 16 * GB }) });

function measured(
  name: string,
  capacity: Partial<Capacity>,
  spec: Partial<MachineSpec> = {},
): MeasuredMachine {
  return {
    kind: "measured",
    spec: aSpec({ name, ...spec }),
    capacity: aCapacity({ account: "ada", ...capacity }),
    earlier: [],
  };
}

function waiting(
  requirement: Requirement,
  machines: readonly MeasuredMachine[],
  facts: Partial<WaitingJob> = {},
): WhyJob {
  const need = { key: "17", requirement, count: 1 };
  const why = explainWaiting({
    batch: "sweep.sh-1",
    placing: undefined,
    need,
    machines,
    leftMs: new Map(),
    ...facts,
  });
  return { kind: "waits", job: JOB, state: "waiting", others: 0, requirement, ...why };
}

function linesOf(jobs: readonly WhyJob[], facts: Partial<WhyBatch> = {}): string[] {
  return whyLines({ batch: "sweep.sh-1", stem: "sweep.sh", hold: null, jobs, more: 0, ...facts }, 120);
}

/** Jobs of the batch, each alone on a card. */
function ours(...labels: string[]) {
  return labels.map((job, index) =>
    aClaim({
      batch: "sweep.sh-1",
      job,
      cards: [aCardClaim({ uuid: `GPU-${index}`, memoryMb: 16 * GB, amount: 1 })],
    }),
  );
}

describe("a job that waits", () => {
  test("for memory of a card that another person's process has", () => {
    const card = { memoryTotalMb: 24 * GB, memoryFreeMb: 14_540 };
    const holders = [aHolder({ user: "bob", program: "python", memoryMb: 9.8 * GB, isClaimed: false })];
    const gpu1 = measured("gpu1", { gpus: gpus({}, {}, {}, {}), claims: ours("14", "15", "16", "18") });
    const gpu2 = measured("gpu2", { gpus: gpus({}, { ...card, holders }), claims: ours("19") });
    const leftMs = new Map([
      ["15", 28_000],
      ["19", 90_000],
    ]);
    expect(linesOf([waiting(NEED, [gpu1, gpu2], { leftMs })])).toEqual([
      "17 waits: needs 1 card with 16 GB, 4 cores, 8 GB   (lr 1e-3 bs 64)",
      "gpu1  cards 0-3  each runs a job: 14, 15, 16, 18",
      "gpu2  card 0     runs job 19",
      "      card 1     14.1 GB free of 24, needs 16: bob's python 9.8 GB",
      "Likely next: gpu1:1 in ~30s, when 15 ends. 14.1 GB per card would start it now.",
    ]);
  });

  test("for a card that another batch of the same account has claimed, and one that the machine file excludes", () => {
    const claims = [aClaim({ batch: "prep.sh-0a1b2c3d", job: "3", cards: [aCardClaim({ amount: 1 })] })];
    const machine = measured(
      "gpu1",
      { gpus: gpus({}, {}), claims },
      { excludeGpus: [1], file: "machines/gpu1.yaml" },
    );
    expect(linesOf([waiting(NEED, [machine])])).toEqual([
      "17 waits: needs 1 card with 16 GB, 4 cores, 8 GB   (lr 1e-3 bs 64)",
      "gpu1  card 0  runs prep.sh 3",
      "      card 1  excluded by machines/gpu1.yaml",
    ]);
  });

  test("for memory that another account's job declared", () => {
    const claims = [
      aClaim({
        owner: "carol",
        batch: "bert.sh-00000000",
        job: "2",
        cards: [aCardClaim({ memoryMb: 10 * GB, usedMb: 0 })],
      }),
    ];
    const machine = measured("gpu1", {
      gpus: gpus({ memoryTotalMb: 24 * GB, memoryFreeMb: 24 * GB }),
      claims,
    });
    const shared = { ...NEED, gpu: aGpuNeed({ memoryMb: 16 * GB, isReserved: false }) };
    expect(linesOf([waiting(shared, [machine])])).toEqual([
      "17 waits: needs 1 shared card with 16 GB, 4 cores, 8 GB   (lr 1e-3 bs 64)",
      "gpu1  card 0  14 GB free of 24, needs 16: carol's bert.sh 2 declared 10 GB",
      "14 GB per card would start it now.",
    ]);
  });

  test("for cores and memory", () => {
    const need = aNeed({ cpus: 8, memoryMb: 32 * GB });
    const busy = measured("cpu1", {
      cpus: { total: 16, free: 3.55 },
      memory: { totalMb: 64 * GB, freeMb: 60 * GB },
    });
    const claims = [aClaim({ batch: "x", memoryMb: 40 * GB, residentMb: 4 * GB })];
    const full = measured("cpu2", { memory: { totalMb: 64 * GB, freeMb: 60 * GB }, claims });
    expect(linesOf([waiting(need, [busy, full])])).toEqual([
      "17 waits: needs 8 cores, 32 GB   (lr 1e-3 bs 64)",
      "cpu1  cores   room for 5.5 of 16, needs 8",
      "cpu2  memory  24 GB free of 64, needs 32: jobs declared 36 GB that they do not use yet",
      "24 GB of memory would start it now.",
    ]);
  });

  test("for a machine that cannot be reached, and for one that is drained", () => {
    const machines: MeasuredMachine[] = [
      { kind: "unreachable", machine: "cpu1", reason: "connection refused", sinceMs: 80_000 },
      { kind: "drained", machine: "cpu2" },
    ];
    expect(linesOf([waiting(NEED, machines)])).toEqual([
      "17 waits: needs 1 card with 16 GB, 4 cores, 8 GB   (lr 1e-3 bs 64)",
      "cpu1  unreachable for 1m20s: connection refused",
      "cpu2  drained, takes no new jobs: sshoal undrain cpu2",
    ]);
  });

  test("for what no machine ever has: with the nearest that would fit", () => {
    const need = { ...NEED, gpu: aGpuNeed({ memoryMb: 40 * GB }) };
    const small = measured("gpu1", { gpus: gpus({ memoryTotalMb: 12 * GB, memoryFreeMb: 12 * GB }) });
    const large = measured("gpu2", { gpus: gpus({ memoryTotalMb: 24 * GB, memoryFreeMb: 2 * GB }) });
    const none = measured("cpu1", {});
    expect(linesOf([waiting(need, [small, large, none])])).toEqual([
      "17 waits: needs 1 card with 40 GB, 4 cores, 8 GB   (lr 1e-3 bs 64)",
      "gpu1  card 0  12 GB in all, needs 40",
      "gpu2  card 0  24 GB in all, needs 40",
      "cpu1  it has no GPU",
      "No machine can ever run it. 24 GB per card would fit on gpu2.",
    ]);
  });

  test("for cards of a model that no machine has: with those that are there", () => {
    const need = { ...NEED, gpu: aGpuNeed({ model: "H100" }) };
    const card = { name: "NVIDIA A100-SXM4-40GB", memoryTotalMb: 40 * GB, memoryFreeMb: 40 * GB };
    expect(linesOf([waiting(need, [measured("gpu1", { gpus: gpus(card, card) })])])).toEqual([
      "17 waits: needs 1 card (H100) with 1000 MB, 4 cores, 8 GB   (lr 1e-3 bs 64)",
      "gpu1  no card fits, needs 1: there are NVIDIA A100-SXM4-40GB (40 GB)",
      "No machine can ever run it.",
    ]);
  });

  test("for a resource that no machine file declares, and one of which there is too little", () => {
    const need = { ...NEED, gpu: null, resources: { licence: [1], nvme: [2] } };
    const machine = measured("cpu1", {}, { resources: { nvme: { fast: 1 } } });
    expect(linesOf([waiting(need, [machine])])).toEqual([
      "17 waits: needs 4 cores, 8 GB, 1 licence, 2 nvme   (lr 1e-3 bs 64)",
      "cpu1  licence  none is declared in the machine file, needs 1",
      "      nvme     1 in all, needs 2",
      "No machine can ever run it.",
    ]);
    const two = { ...NEED, gpu: null, resources: { nvme: [2] } };
    expect(linesOf([waiting(two, [machine])]).slice(1)).toEqual([
      "cpu1  nvme  1 in all, needs 2",
      "No machine can ever run it. {nvme: 1} would fit on cpu1.",
    ]);
    const held = [aClaim({ batch: "x", resources: [{ name: "nvme", instance: "fast", amount: 0.5 }] })];
    const one = { ...NEED, gpu: null, resources: { nvme: [1] } };
    const used = measured("cpu1", { claims: held }, { resources: { nvme: { fast: 1 } } });
    expect(linesOf([waiting(one, [used])]).slice(1)).toEqual([
      "cpu1  nvme  0.5 free, needs 1",
      "{nvme: 0.5} would start it now.",
    ]);
  });

  test("because an earlier job waits for the same", () => {
    const two = { ...NEED, gpu: aGpuNeed({ count: 2 }) };
    const one = { ...NEED, gpu: aGpuNeed() };
    const machine = measured("gpu1", { gpus: gpus({}, {}), claims: ours("14") });
    const earlier = [{ key: "12", requirement: two, count: 1 }];
    const machines = [{ ...machine, earlier } as MeasuredMachine];
    expect(linesOf([waiting(one, machines)])).toEqual([
      "17 waits: needs 1 card with 1000 MB, 4 cores, 8 GB   (lr 1e-3 bs 64)",
      "gpu1  kept for job 12, which waits longer",
    ]);
    expect(linesOf([waiting(two, [machine])]).slice(1)).toEqual([
      "gpu1  card 0  runs job 14",
      "      1 card fits, needs 2",
      "1 card would start it now.",
    ]);
  });

  test("although there is room", () => {
    expect(linesOf([waiting(NEED, [measured("gpu1", { gpus: gpus({}) })])])[1]).toBe(
      "gpu1  has room: the job starts within seconds",
    );
  });

  test("for licences, behind max_jobs, and on a machine that another batch has reserved", () => {
    const need = aNeed({ resources: { licence: [1] } });
    const held = [aClaim({ batch: "x", resources: [{ name: "licence", instance: "a", amount: 1 }] })];
    const one = measured("a", { claims: held }, { maxJobs: 1, resources: { licence: { a: 1 } } });
    const claims = [aClaim({ owner: "carol", batch: "all.sh-12345678", reservesMachine: true })];
    const two = measured("b", { claims }, { resources: { licence: { a: 1 } } });
    expect(linesOf([waiting(need, [one, two])]).slice(1, 4)).toEqual([
      "a  1 job runs, at most 1 (max_jobs)",
      "   licence  0 free, needs 1",
      "b  reserved by carol's all.sh",
    ]);
  });
});

describe("a job that does not wait", () => {
  const ended = {
    kind: "ended",
    job: JOB,
    machine: "gpu2",
    elapsedMs: 42_000,
    lastWords: "KeyError: 'pos'\n",
  } as const;

  test.each<[WhyJob, string]>([
    [
      { kind: "runs", job: JOB, state: "running", machine: "gpu1", cards: [0], elapsedMs: 252_000 },
      "17 runs on gpu1:0 for 4m12s",
    ],
    [
      { ...ended, state: "failed", outcome: { kind: "exited", code: 1 } },
      "17 failed on gpu2 after 42s: exit 1: KeyError: 'pos'",
    ],
    [
      { ...ended, state: "succeeded", outcome: { kind: "exited", code: 0 } },
      "17 succeeded on gpu2 after 42s",
    ],
    [
      { ...ended, state: "stopped", machine: null, elapsedMs: null, outcome: null },
      "17 was stopped before it began: sshoal retry 17",
    ],
  ])("%#: %s", (why, line) => {
    expect(linesOf([why])).toEqual([line]);
  });
});

test("what holds the whole batch comes first, groups that are left out last", () => {
  const why = waiting(NEED, [measured("gpu1", { gpus: gpus({}) })]);
  const hold = { kind: "no-client", command: "sshoal attach sweep.sh" } as const;
  const lines = linesOf([{ ...why, others: 10 } as WhyJob], { hold, more: 2 });
  expect(lines).toEqual([
    "No client follows the batch, and these jobs are on no machine yet: sshoal attach sweep.sh",
    "17 and 10 more wait: needs 1 card with 16 GB, 4 cores, 8 GB",
    "gpu1  has room: the job starts within seconds",
    "",
    "2 more groups wait: sshoal why JOB",
  ]);
});

test("for programs: shortages as they are, and the lines for people", () => {
  const job = waiting(aNeed({ cpus: 99 }), [measured("cpu1", { cpus: { total: 2, free: 2 } })]);
  const [line = ""] = whyJson({ batch: "b-1", stem: "b", hold: null, jobs: [job], more: 0 });
  const { lines, ...facts } = JSON.parse(line);
  expect(facts).toEqual({
    v: 2,
    kind: "why",
    batch: "b-1",
    job: 17,
    name: "sweep.sh.17",
    state: "waiting",
    hold: null,
    others: 0,
    requirement: aNeed({ cpus: 99 }),
    machines: [
      {
        machine: "cpu1",
        kind: "waits",
        file: null,
        isNever: true,
        shortages: [{ kind: "cpus", needed: 99, free: 2 }],
      },
    ],
    next: null,
    change: { what: "cores", amount: 4, machine: "cpu1", isNow: false },
  });
  expect(lines[1]).toBe("cpu1  cores  2 in all, needs 99");
});

test("one line for the live view: without what only a probe knows", () => {
  const facts = {
    batch: "b",
    capacity: null,
    file: null,
    isNever: false,
    labelOf: (key: string) => key.slice(-2),
  };
  expect(
    reasonLine(
      [
        {
          kind: "gpus",
          needed: 1,
          available: 0,
          refused: [
            { gpu: { index: 0 }, why: { kind: "taken", owner: "", batch: "b", job: "19" } },
            {
              gpu: { index: 1 },
              why: { kind: "memory", neededMb: 16 * GB, freeMb: 14_540, totalMb: 24 * GB },
            },
          ],
        },
        { kind: "kept", key: "0000012" },
      ],
      facts,
    ),
  ).toBe("card 0 runs job 19; card 1: 14.1 GB free of 24, needs 16; kept for job 12, which waits longer");
});
