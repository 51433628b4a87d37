import { expect, test } from "vitest";
import { parseAnswer, parseRequest } from "../../../../src/batch/follower/protocol.js";

test.each([
  { kind: "watch" },
  { kind: "stop", jobs: null },
  { kind: "stop", jobs: [1, 2] },
  { kind: "retry", jobs: [3] },
  { kind: "drain", machine: "gpu1" },
  { kind: "undrain", machine: "gpu1" },
  { kind: "reread", program: "sshoal", argv: ["run", "a.sh"], env: { SEED: "1" } },
])("%j is a request", (request) => {
  expect(parseRequest({ ...request, more: "is left out" })).toEqual(request);
});

test.each([
  {},
  { kind: "explode" },
  { kind: "stop" },
  { kind: "stop", jobs: "all" },
  { kind: "retry", jobs: null },
  { kind: "retry", jobs: [1.5] },
  { kind: "retry", jobs: [0] },
  { kind: "drain", machine: 7 },
  { kind: "reread", program: "sshoal", argv: "run", env: {} },
  { kind: "reread", program: "sshoal", argv: [], env: { SEED: 1 } },
  { kind: "reread", program: "sshoal", argv: [], env: null },
])("%j is not a request", (request) => {
  expect(parseRequest(request)).toBeNull();
});

test.each([
  { kind: "hello", protocol: "1" },
  { kind: "refused" },
  { kind: "watching", recordBytes: 1, recent: [] },
  { kind: "event", event: null },
  { kind: "later" },
])("%j is not an answer", (answer) => {
  expect(parseAnswer(answer)).toBeNull();
});

test("a follower that ends without a code has left the batch", () => {
  expect(parseAnswer({ kind: "end" })).toEqual({ kind: "end", exitCode: null });
  expect(parseAnswer({ kind: "end", exitCode: 1 })).toEqual({ kind: "end", exitCode: 1 });
});
