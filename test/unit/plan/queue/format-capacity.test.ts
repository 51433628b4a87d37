import { expect, test } from "vitest";
import { parseCapacity } from "../../../../src/input/queue/parse-capacity.js";
import { formatCapacity } from "../../../../src/plan/queue/format-capacity.js";

test.each([
  ["{gpu: 4, cpu: 16}"],
  ["{RAM: [512]}"],
  ["{hdd: [32, 64, 128]}"],
  ['{gpu: {"2": 1, "4": 1}}'],
  ['{gpu: {left: 1, "a-b": 0.5}}'],
])("%s is written as it was read", (text) => {
  expect(formatCapacity(parseCapacity(text).capacity)).toBe(text);
});
