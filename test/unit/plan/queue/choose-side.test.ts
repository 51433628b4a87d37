import { describe, expect, test } from "vitest";
import { chooseSide, type SideFacts } from "../../../../src/plan/queue/choose-side.js";

function facts(some: Partial<SideFacts> = {}): SideFacts {
  return {
    hasBatch: false,
    isOfBatch: () => false,
    queues: ["default", "train"],
    isOfDefault: () => false,
    ...some,
  };
}

const onQueue = (queue: string, jobs: string | null) => ({ kind: "queue", words: [{ queue, jobs }] });

describe("with a service", () => {
  test.each([
    ["train/7", onQueue("train", "7")],
    ["train/3-7", onQueue("train", "3-7")],
    ["train/lr*", onQueue("train", "lr*")],
    ["train", onQueue("train", null)],
    ["train/", onQueue("train", null)],
    ["train/*", onQueue("train", null)],
    ["7", onQueue("default", "7")],
    ["prepare", onQueue("default", "prepare")],
    ["trian/7", { kind: "unknown-queue", queue: "trian" }],
    ["./train.sh", { kind: "batch" }],
    ["/tmp/train.sh", { kind: "batch" }],
  ])("without a batch here, %s", (word, side) => {
    expect(chooseSide([word], facts())).toEqual(side);
  });

  test("a number means the batch of this directory", () => {
    expect(chooseSide(["7"], facts({ hasBatch: true }))).toEqual({ kind: "batch" });
    const ofBatch = facts({ hasBatch: true, isOfBatch: (word) => word === "7" });
    expect(chooseSide(["7"], ofBatch)).toEqual({ kind: "batch" });
  });

  test("a number that the batch and the queue default have is refused with both spellings", () => {
    const ofBoth = facts({ hasBatch: true, isOfBatch: () => true, isOfDefault: (word) => word === "3-7" });
    expect(chooseSide(["3-7"], ofBoth)).toEqual({
      kind: "both",
      word: "3-7",
      spellings: { batch: null, queue: "default/3-7" },
    });
  });

  test("a queue with the name of a batch is refused with both spellings", () => {
    const ofBoth = facts({ hasBatch: true, isOfBatch: (word) => word === "train" });
    expect(chooseSide(["train"], ofBoth)).toEqual({
      kind: "both",
      word: "train",
      spellings: { batch: "./train", queue: "train/" },
    });
  });

  test("a script's path is not taken for a queue that does not exist", () => {
    const withScript = facts({ hasBatch: true, isOfBatch: (word) => word === "sub/train.sh" });
    expect(chooseSide(["sub/train.sh"], withScript)).toEqual({ kind: "batch" });
  });

  test("words for both sides are not mixed", () => {
    expect(chooseSide(["train/7", "8"], facts({ hasBatch: true }))).toEqual({
      kind: "mixed",
      batch: "8",
      queue: "train/7",
    });
  });

  test("several words name jobs of several queues", () => {
    expect(chooseSide(["train/7", "default/1"], facts())).toEqual({
      kind: "queue",
      words: [
        { queue: "train", jobs: "7" },
        { queue: "default", jobs: "1" },
      ],
    });
  });

  test("without words, the batches of this directory come first", () => {
    expect(chooseSide([], facts({ hasBatch: true }))).toEqual({ kind: "batch" });
    expect(chooseSide([], facts())).toEqual(onQueue("default", null));
  });
});

describe("without a service", () => {
  const none = facts({ queues: null });

  test("everything means batches, except the address of a queue", () => {
    expect(chooseSide(["7"], none)).toEqual({ kind: "batch" });
    expect(chooseSide([], none)).toEqual({ kind: "batch" });
    expect(chooseSide(["train/7"], none)).toEqual({ kind: "no-service", queue: "train" });
    expect(chooseSide(["./train/7"], none)).toEqual({ kind: "batch" });
  });
});

test("where there is a batch, a path that nothing has is one of its scripts, and a number belongs to a queue", () => {
  const facts = { hasBatch: true, isOfBatch: () => false, queues: null, isOfDefault: () => false };
  expect(chooseSide(["sub/c.sh"], facts)).toEqual({ kind: "batch" });
  expect(chooseSide(["train/7"], facts)).toEqual({ kind: "no-service", queue: "train" });
  expect(chooseSide(["sub/c.sh"], { ...facts, hasBatch: false })).toEqual({
    kind: "no-service",
    queue: "sub",
  });
});
