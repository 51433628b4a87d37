import { expect, test } from "vitest";
import { separateParameters } from "../../../../src/cli/options/parameter-words.js";

test.each([
  [
    ["cmd", "-p", "lr", "1", "2", "-p", "bs", "3"],
    ["cmd"],
    [
      ["lr", "1", "2"],
      ["bs", "3"],
    ],
  ],
  [
    ["--seed", "1", "cmd", "-p", "a", "1", "--n-samples", "2"],
    ["--seed", "1", "cmd", "--n-samples", "2"],
    [["a", "1"]],
  ],
  [["c", "--p", "a=int:1..2", "--parameter", "b", "1"], ["c"], [["a=int:1..2"], ["b", "1"]]],
  [
    ["c", "-pa", "1", "--p=b", "2", "--parameter=c", "3"],
    ["c"],
    [
      ["a", "1"],
      ["b", "2"],
      ["c", "3"],
    ],
  ],
  [["c", "-p", "a", "-1", "-.5", "-1e-3", "-"], ["c"], [["a", "-1", "-.5", "-1e-3", "-"]]],
  [["c", "-p", "a", "--x 1", "", "--seed", "2"], ["c", "--seed", "2"], [["a", "--x 1", ""]]],
  [["-p", "a", "1", "--", "cmd", "-p"], ["--", "cmd", "-p"], [["a", "1"]]],
  [["c", "-p"], ["c"], [[]]],
])("%j", (argv, rest, parameters) => {
  expect(separateParameters(argv)).toEqual({ rest, parameters });
});
