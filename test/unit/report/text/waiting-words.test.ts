import { expect, test } from "vitest";
import { waitingWords } from "../../../../src/report/text/waiting-words.js";

test.each([
  ["memory:16384:12288", "memory: 12 GB free, needs 16"],
  ["cores:8000:1500", "cores: room for 3.5, needs 8"],
  ["jobs:2", "runs at most 2 (max_jobs)"],
  ["machine:carol:all.sh-0a1b2c3d", "reserved or used by carol's all.sh"],
  [
    "cards:1000:0 card:0:taken:-:sweep.sh-00000001:19 card:1:memory:16384:14540:24576 card:2:excluded",
    "card 0 runs job 19; card 1: 14.1 GB free of 24, needs 16; card 2: excluded",
  ],
  ["cards:2000:1 card:0:taken:bob:x.sh:3", "card 0 runs bob's x.sh 3; 1 card fits, needs 2"],
  ["res:licence:1000:500", "licence: 0.5 free, needs 1"],
  ["kept:5000000000012-12-1", "kept for job 12, which waits longer"],
  ["answer:-", "what is free cannot be measured: the machine starts too few processes, or a file blocks"],
  ["claim:-", "no claim can be written, so no job starts"],
  ["disk:-", "the disk is full, so no job starts"],
  ["memory: 16384 MB wanted, 12288 MB free", "needs 16.0 GB of memory, 12.0 GB free"],
  ["the disk is full: /home\u001b[2J", "the disk is full: /home\\x1b[2J"],
])("%s", (reason, words) => {
  expect(waitingWords(reason, { batch: "sweep.sh-00000001" })).toBe(words);
});

test("jobs of the batch have their labels, others the numbers that machines report", () => {
  const labelOf = (id: number) => (id === 3 ? "train" : String(id + 1));
  const wordsOf = (reason: string) => waitingWords(reason, { batch: "b.sh-00000001", labelOf });
  expect(wordsOf("cards:1000:0 card:0:taken:-:b.sh-00000001:3")).toBe("card 0 runs job train");
  expect(wordsOf("cards:1000:0 card:0:taken:-:b.sh-00000001:-")).toBe("card 0 runs a job of this batch");
  expect(wordsOf("cards:1000:0 card:0:taken:bob:b.sh-00000001:3")).toBe("card 0 runs bob's b.sh 3");
  expect(wordsOf("kept:5000000000012-12-1")).toBe("kept for job 13, which waits longer");
});
