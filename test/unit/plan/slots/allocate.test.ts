// One table for both allocators: the client's, and the program that runs on machines.

import { beforeAll, describe, expect, test } from "vitest";
import { allocate } from "../../../../src/plan/slots/allocate.js";
import type { Question } from "../../../../src/plan/slots/question.js";
import { AWKS, runAwk } from "../../../rig/run-awk.js";
import {
  aCardNeed,
  aClaimOn,
  aPart,
  aQuestion,
  aRoomClaim,
  aRoomNeed,
  formatAnswer,
  formatQuestion,
  roomCards,
} from "./a-question.js";

/** A question, and the lines of its answer. The claim of a start has seven words, which docs/slot.md describes. */
type Row = readonly [what: string, facts: Partial<Question>, answer: readonly string[]];

const plain = aRoomNeed();
const onCard = aRoomNeed({ cards: aCardNeed() });
const half = aRoomNeed({ cards: aPart(500) });
const START = "start 1 k1 1000 1 0 0 0 0 -";
const onOne = (uuid: string, index: number) => [
  `start 1 k1 1000 1 1000 0.75 1 0 ${uuid}`,
  `card ${index} ${uuid} nvidia 1000 750 1000 0`,
];
const halfOf = (index: number) => [
  `start 1 k1 1000 1 1000 0.5 0 0 GPU-${index}`,
  `card ${index} GPU-${index} nvidia 1000 500 500 0`,
];
const RESERVING = aRoomClaim({ owner: "bob", batch: "big", reservesMachine: true });
const SLICE = { isMig: true, index: 0, totalMb: 10_000, freeMb: 10_000, group: "g/1" };
const ones = (name: string, ...instances: string[]) =>
  instances.map((instance) => ({ name, instance, capacityMilli: 1000 }));
const holding = (name: string, instance: string, milli: number) =>
  aRoomClaim({ resources: [{ name, instance, milli }] });

const MACHINE: Row[] = [
  ["a job that fits starts", { needs: [plain] }, [START]],
  ["no job waits", { needs: [] }, []],
  [
    "a reserved machine takes no job",
    { claims: [aRoomClaim(), RESERVING], needs: [plain] },
    ["wait 1 k1 machine:bob:big"],
  ],
  [
    "a job that reserves the machine starts beside no other",
    { claims: [aRoomClaim()], needs: [aRoomNeed({ reservesMachine: true })] },
    ["wait 1 k1 machine:ada:other"],
  ],
  [
    "a job that reserves the machine has every card that fits, of all makers",
    {
      cards: roomCards({}, { unusable: "is lost" }, { maker: "amd" }),
      needs: [aRoomNeed({ reservesMachine: true, cards: aCardNeed() })],
    },
    [
      "start 1 k1 1000 1 1000 0.75 1 1 GPU-0,GPU-2",
      "card 0 GPU-0 nvidia 1000 750 1000 0",
      "card 2 GPU-2 amd 1000 750 1000 0",
    ],
  ],
  ["max_jobs counts claims", { maxJobs: 1, claims: [aRoomClaim()], needs: [plain] }, ["wait 1 k1 jobs:1"]],
  [
    "max_jobs does not count claims of other accounts",
    { maxJobs: 1, account: "bob", claims: [aRoomClaim()], needs: [plain] },
    [START],
  ],
];

const MEMORY: Row[] = [
  ["as much as is free", { memoryFreeMb: 1000, needs: [plain] }, [START]],
  ["more than is free", { memoryFreeMb: 999, needs: [plain] }, ["wait 1 k1 memory:1000:999"]],
  ["unknown", { memoryFreeMb: null, coresMilli: null, needs: [plain] }, ["wait 1 k1 memory:- cores:-"]],
  [
    "what is kept for people is not free",
    { memoryFreeMb: 1500, keep: { memoryMb: 501, coresMilli: 0, cards: 0 }, needs: [plain] },
    ["wait 1 k1 memory:1000:999"],
  ],
  [
    "a claim counts with what its job does not use yet",
    { memoryFreeMb: 1499, claims: [aRoomClaim({ memoryMb: 4000, usedMb: 3500 })], needs: [plain] },
    ["wait 1 k1 memory:1000:999"],
  ],
  [
    "a job that uses more than it declared has nothing to come",
    { memoryFreeMb: 1000, claims: [aRoomClaim({ memoryMb: 4000, usedMb: 9000 })], needs: [plain] },
    [START],
  ],
  [
    "a card without memory of its own uses the host's",
    {
      memoryFreeMb: 1999,
      cards: roomCards({ sharesHostMemory: true, totalMb: null, freeMb: null }),
      needs: [onCard],
    },
    ["wait 1 k1 memory:2000:1999"],
  ],
];

const CORES: Row[] = [
  [
    "two more than there are",
    { needs: [aRoomNeed({ coresMilli: 10_000 })] },
    ["start 1 k1 1000 10 0 0 0 0 -"],
  ],
  ["more than that", { needs: [aRoomNeed({ coresMilli: 10_001 })] }, ["wait 1 k1 cores:10001:8000"]],
  [
    "running jobs are part of the load, jobs that have not begun are not",
    {
      coresMilli: { total: 8000, busy: 3000 },
      claims: [aRoomClaim({ coresMilli: 5000, usedMb: 1 }), aRoomClaim({ coresMilli: 4000 })],
      needs: [aRoomNeed({ coresMilli: 1250 })],
    },
    ["wait 1 k1 cores:1250:-1000"],
  ],
];

const CARDS: Row[] = [
  [
    "the least used card, unknown use last",
    { cards: roomCards({ useMilli: null }, { useMilli: 300, isForeign: true }, {}), needs: [onCard] },
    onOne("GPU-2", 2),
  ],
  [
    "with pack, shared jobs go to the most used card that fits",
    {
      packs: true,
      cards: roomCards({}, {}, {}),
      claims: [
        aClaimOn("GPU-1", { amountMilli: 250, shareMilli: 250 }),
        aClaimOn("GPU-2", { amountMilli: 600, shareMilli: 600 }),
      ],
      needs: [half],
    },
    halfOf(1),
  ],
  [
    "shared jobs are packed while another job waits for a card of its own",
    {
      cards: roomCards({}, {}),
      claims: [aClaimOn("GPU-1", { amountMilli: 250, shareMilli: 250 })],
      needs: [half, { ...onCard, key: "2" }],
    },
    halfOf(1),
  ],
  [
    "a card of its own is the least used one, also with pack",
    { packs: true, cards: roomCards({ useMilli: 300, isForeign: true }, {}), needs: [onCard] },
    onOne("GPU-1", 1),
  ],
  [
    "each card has its reason",
    {
      isPolite: true,
      keep: { memoryMb: 0, coresMilli: 0, cards: 3 },
      cards: roomCards(
        { isExcluded: true },
        { unusable: "is lost" },
        { freeMb: null },
        { freeMb: 999 },
        { isForeign: true, useMilli: 451 },
        { isForeign: true, isOfPerson: true },
        { isForeign: true, isExclusive: true },
        {},
        {},
      ),
      claims: [aClaimOn("GPU-7", { amountMilli: 500 }, { owner: "bob", batch: "sweep.sh", job: "14" })],
      needs: [onCard],
    },
    [
      "wait 1 k1 cards:1000:0 card:0:excluded card:1:bad card:2:unknown card:3:memory:1000:999:24576 " +
        "card:4:use:750:451 card:5:person card:6:exclusive card:7:taken:bob:sweep.sh:14 card:8:kept",
    ],
  ],
  [
    "no more parts of a card than a whole",
    { cards: roomCards({}), claims: [aClaimOn("GPU-0", { amountMilli: 501 })], needs: [half] },
    ["wait 1 k1 cards:500:0 card:0:amount:500:499"],
  ],
  [
    "a card that a job has alone takes no other",
    { cards: roomCards({}), claims: [aClaimOn("GPU-0", { amountMilli: 1000 })], needs: [half] },
    ["wait 1 k1 cards:500:0 card:0:taken:ada:other:7"],
  ],
  [
    "an exclusive card takes one job, although that shares cards",
    { cards: roomCards({ isExclusive: true }), claims: [aClaimOn("GPU-0")], needs: [half] },
    ["wait 1 k1 cards:500:0 card:0:taken:ada:other:7"],
  ],
  [
    "whole cards come first, then the part",
    {
      cards: roomCards({}, {}, {}),
      claims: [aClaimOn("GPU-0", { amountMilli: 500, shareMilli: 500 })],
      needs: [aRoomNeed({ cards: aCardNeed({ whole: 2, partMilli: 500 }) })],
    },
    [
      "start 1 k1 1000 1 1000 0.75 1 0 GPU-1,GPU-2,GPU-0",
      "card 1 GPU-1 nvidia 1000 750 1000 0",
      "card 2 GPU-2 nvidia 1000 750 1000 0",
      "card 0 GPU-0 nvidia 1000 500 500 0",
    ],
  ],
  [
    "all cards are of one maker",
    {
      cards: roomCards({}, { maker: "amd" }, { maker: "amd" }),
      needs: [aRoomNeed({ cards: aCardNeed({ whole: 3 }) })],
    },
    ["wait 1 k1 cards:3000:3"],
  ],
  [
    "only candidates are looked at",
    { cards: roomCards({}, {}), needs: [aRoomNeed({ cards: aCardNeed({ candidates: ["1"] }) })] },
    onOne("GPU-1", 1),
  ],
  [
    "slices with a common memory have it once",
    {
      cards: roomCards({ ...SLICE, uuid: "MIG-a" }, { ...SLICE, uuid: "MIG-b" }),
      claims: [aClaimOn("MIG-a", { memoryMb: 9500, amountMilli: 1000 })],
      needs: [onCard],
    },
    ["wait 1 k1 cards:1000:0 card:0:taken:ada:other:7 card:0:memory:1000:500:10000"],
  ],
  [
    "a job on several cards uses no slice",
    {
      cards: roomCards({ ...SLICE, uuid: "MIG-a" }, {}),
      needs: [aRoomNeed({ cards: aCardNeed({ whole: 2 }) })],
    },
    ["wait 1 k1 cards:2000:1 card:0:slice"],
  ],
  [
    "idle cards are kept for people, used ones are not",
    {
      keep: { memoryMb: 0, coresMilli: 0, cards: 1 },
      cards: roomCards({}, { isForeign: true, useMilli: 100 }),
      needs: [onCard],
    },
    onOne("GPU-1", 1),
  ],
  [
    "no job starts while people have fewer idle cards than are kept for them",
    {
      keep: { memoryMb: 0, coresMilli: 0, cards: 1 },
      cards: roomCards({ isForeign: true }, { isForeign: true }),
      needs: [onCard],
    },
    ["wait 1 k1 cards:1000:0 card:0:kept card:1:kept"],
  ],
  [
    "a polite job leaves one of several cards",
    {
      isPolite: true,
      cards: roomCards({}, {}),
      claims: [aClaimOn("GPU-0", { amountMilli: 1000 })],
      needs: [onCard],
    },
    ["wait 1 k1 cards:1000:0 card:0:taken:ada:other:7 card:1:kept"],
  ],
  [
    "a polite job takes the only card",
    { isPolite: true, cards: roomCards({}), needs: [onCard] },
    onOne("GPU-0", 0),
  ],
];

const listing = (...candidates: string[]) => aRoomNeed({ cards: aCardNeed({ candidates, isListed: true }) });
const ours = (uuid: string) => aClaimOn(uuid, { amountMilli: 1000, shareMilli: 750 }, { batch: "mine" });

const LISTED: Row[] = [
  ["in the listed order", { cards: roomCards({}, {}), needs: [listing("1", "0")] }, onOne("GPU-1", 1)],
  [
    "a card takes as many jobs of the batch as it is listed",
    { cards: roomCards({}, {}), claims: [ours("GPU-0")], needs: [listing("0", "0", "1")] },
    onOne("GPU-0", 0),
  ],
  [
    "then the next one",
    { cards: roomCards({}, {}), claims: [ours("GPU-0"), ours("GPU-0")], needs: [listing("0", "0", "1")] },
    onOne("GPU-1", 1),
  ],
  [
    "then none",
    { cards: roomCards({}, {}), claims: [ours("GPU-0")], needs: [listing("0")] },
    ["wait 1 k1 cards:1000:0 card:0:listed"],
  ],
  [
    "a card that another batch has alone is taken",
    { cards: roomCards({}), claims: [aClaimOn("GPU-0", { amountMilli: 1000 })], needs: [listing("0", "0")] },
    ["wait 1 k1 cards:1000:0 card:0:taken:ada:other:7"],
  ],
  [
    "a card that no tool reports is trusted",
    {
      cards: roomCards({ totalMb: null, freeMb: null, useMilli: null, isTrusted: true }),
      needs: [listing("0")],
    },
    onOne("GPU-0", 0),
  ],
];

const wanting = (name: string, ...amounts: number[]) => aRoomNeed({ wants: [{ name, amounts }] });

const RESOURCES: Row[] = [
  [
    "from the fullest instance that has it",
    {
      instances: ones("licence", "a", "b"),
      claims: [holding("licence", "b", 400)],
      needs: [wanting("licence", 500)],
    },
    [START, "got licence b 500"],
  ],
  [
    "too little in each instance",
    {
      instances: ones("licence", "a", "b"),
      claims: [holding("licence", "a", 600), holding("licence", "b", 700)],
      needs: [wanting("licence", 500)],
    },
    ["wait 1 k1 res:licence:500:400"],
  ],
  [
    "more than one instance: whole ones, then a part",
    {
      instances: ones("licence", "a", "b", "c"),
      claims: [holding("licence", "a", 500)],
      needs: [wanting("licence", 2500)],
    },
    [START, "got licence b 1000", "got licence c 1000", "got licence a 500"],
  ],
  [
    "more than unequal instances have is never there",
    { instances: [{ name: "disk", instance: "0", capacityMilli: 2000 }], needs: [wanting("disk", 2500)] },
    ["wait 1 k1 res:disk:2500:2000"],
  ],
  [
    "several amounts come from different instances",
    { instances: ones("licence", "a", "b"), needs: [wanting("licence", 250, 1000)] },
    [START, "got licence a 250", "got licence b 1000"],
  ],
  [
    "what a machine file declares is shared with other accounts",
    {
      account: "bob",
      instances: ones("licence", "a"),
      claims: [holding("licence", "a", 1000)],
      needs: [wanting("licence", 1000)],
    },
    ["wait 1 k1 res:licence:1000:0"],
  ],
  [
    "what a queue declares is not shared with a queue of another account",
    {
      account: "bob",
      instances: ones("licence@train", "a"),
      claims: [holding("licence@train", "a", 1000)],
      needs: [wanting("licence@train", 1000)],
    },
    [START, "got licence@train a 1000"],
  ],
  [
    "what a queue declares is used by its own jobs",
    {
      account: "ada",
      instances: ones("licence@train", "a"),
      claims: [holding("licence@train", "a", 1000)],
      needs: [wanting("licence@train", 1000)],
    },
    ["wait 1 k1 res:licence@train:1000:0"],
  ],
  [
    "a resource that the machine does not have",
    { needs: [wanting("licence", 1000)] },
    ["wait 1 k1 res:licence:1000:0"],
  ],
];

const small = (key: string) => aRoomNeed({ key, memoryMb: 1000 });
const big = aRoomNeed({ memoryMb: 8000 });

const ORDER: Row[] = [
  [
    "no job takes the memory that an earlier one waits for",
    { memoryFreeMb: 4000, claims: [aRoomClaim({ memoryMb: 8000, usedMb: 8000 })], needs: [big, small("2")] },
    ["wait 1 k1 memory:8000:4000", "wait 2 k2 kept:1"],
  ],
  [
    "unless the earlier one could not start if all claims ended",
    { memoryFreeMb: 4000, claims: [aRoomClaim({ memoryMb: 3999, usedMb: 3999 })], needs: [big, small("2")] },
    ["wait 1 k1 memory:8000:4000", "start 2 k2 1000 1 0 0 0 0 -"],
  ],
  [
    "a job that takes none of it starts",
    {
      memoryFreeMb: 4000,
      claims: [aRoomClaim({ memoryMb: 8000, usedMb: 8000 })],
      needs: [big, aRoomNeed({ key: "2", memoryMb: 0 })],
    },
    ["wait 1 k1 memory:8000:4000", "start 2 k2 0 1 0 0 0 0 -"],
  ],
  [
    "a shared job leaves the card that an earlier one waits for",
    {
      cards: roomCards({}, {}),
      claims: [
        aClaimOn("GPU-0", { amountMilli: 250, shareMilli: 250 }),
        aClaimOn("GPU-1", { amountMilli: 300, shareMilli: 300 }),
      ],
      needs: [onCard, { ...half, key: "2" }],
    },
    [
      "wait 1 k1 cards:1000:0 card:0:taken:ada:other:7 card:1:taken:ada:other:7",
      "start 2 k2 1000 1 1000 0.5 0 0 GPU-1",
      "card 1 GPU-1 nvidia 1000 500 500 0",
    ],
  ],
  [
    "two jobs that wait keep two cards",
    {
      cards: roomCards({}, {}),
      claims: [aClaimOn("GPU-0", { amountMilli: 250 }), aClaimOn("GPU-1", { amountMilli: 300 })],
      needs: [onCard, { ...onCard, key: "2" }, { ...half, key: "3" }],
    },
    [
      "wait 1 k1 cards:1000:0 card:0:taken:ada:other:7 card:1:taken:ada:other:7",
      "wait 2 k2 cards:1000:0 card:0:taken:ada:other:7 card:1:taken:ada:other:7",
      "wait 3 k3 kept:2",
    ],
  ],
  [
    "a job that waits for the whole machine keeps it",
    { claims: [aRoomClaim()], needs: [aRoomNeed({ reservesMachine: true }), small("2")] },
    ["wait 1 k1 machine:ada:other", "wait 2 k2 kept:1"],
  ],
  [
    "no job takes the resource that an earlier one waits for",
    {
      instances: ones("licence", "a", "b"),
      claims: [holding("licence", "a", 1000)],
      needs: [wanting("licence", 2000), { ...wanting("licence", 1000), key: "2" }],
    },
    ["wait 1 k1 res:licence:2000:1000", "wait 2 k2 kept:1"],
  ],
];

const ROWS = [
  ["the machine", MACHINE],
  ["memory", MEMORY],
  ["cores", CORES],
  ["cards", CARDS],
  ["listed cards", LISTED],
  ["resources", RESOURCES],
  ["the order of jobs", ORDER],
] as const;
const ALL = ROWS.flatMap(([about, rows]) =>
  rows.map(([what, facts, answer]) => ({ about, what, facts, answer })),
);

test.each(ALL)("the client: $about: $what", ({ facts, answer }) => {
  const question = aQuestion(facts);
  expect(formatAnswer(question, allocate(question))).toEqual(answer);
});

describe.each(AWKS)("%s", (awk) => {
  let answers: string[];

  beforeAll(async () => {
    answers = await runAwk(
      awk,
      "room.awk",
      ALL.map(({ facts }) => formatQuestion(aQuestion(facts))),
    );
  });

  test.each(ALL.map((row, at) => ({ ...row, at })))("$about: $what", ({ answer, at }) => {
    expect(answers[at]?.split("\n").slice(0, -1)).toEqual(answer);
  });

  test("lines of another form are ignored and counted", async () => {
    const good = ["mem 9000", "cpu 1000 0", "need 1 k 1000 1000 0"];
    const bad = [
      "mem 1e9",
      "mem 1234567890123",
      "mem -5",
      "mem  9000",
      " mem 9000",
      "cpu 1000",
      "keep 1 2",
      "card 0 GPU-0 nvidia 1 1 0 z -",
      "claim c1 ada b 7 1 1 2 0",
      "claim c1 a;b b 7 1 1 0 0",
      "on c1 GPU-0 1 1 1 1",
      "has c1 licence a 1",
      "res licence a$(id) 1000",
      "cards other 1 0 0 0 1 * 0",
      "cards k 1 1000 0 0 1 * 0",
      "wants k licence 1,,2",
      "need",
      "anything",
    ];
    const [answer] = await runAwk(awk, "room.awk", [`${[...good, ...bad].join("\n")}\n`]);
    expect(answer).toBe(`start 1 k 1000 1 0 0 0 0 -\nignored ${bad.length}\n`);
  });

  test("numbers above 2^31 keep their digits", async () => {
    const lines = ["mem 999999999998", "cpu 1000 0", "need 1 k 999999999999 1000 0"];
    const [answer] = await runAwk(awk, "room.awk", [`${lines.join("\n")}\n`]);
    expect(answer).toBe("wait 1 k memory:999999999999:999999999998\n");
  });
});
