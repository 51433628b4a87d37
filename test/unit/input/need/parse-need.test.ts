import { describe, expect, test } from "vitest";
import { UserError } from "../../../../src/errors.js";
import { parseNeed } from "../../../../src/input/need/parse-need.js";

describe("what a job requires", () => {
  test.each([
    ["{licence: 1, nvme: 0.5}", { resources: { licence: [1], nvme: [0.5] } }],
    ['{"a-b_c": [1, 0.5],}', { resources: { "a-b_c": [1, 0.5] } }],
    ["{gpu: 2.5}", { gpuCount: 2.5, resources: {} }],
    ["{gpu: [1, 1, 0.5]}", { gpuCount: 2.5, resources: {} }],
    ["{cpu: 2, memory: 500}", { cpus: 2, memoryMb: 500, resources: {} }],
    ["{cpus: 2} // cores", { cpus: 2, resources: {} }],
    ["{}", { resources: {} }],
  ])("%s", (text, expected) => {
    expect(parseNeed(text)).toEqual(expected);
  });

  const AMOUNT = "an amount is a number above 0, at most 999999, with up to three decimals";
  const NAME = "a name has up to 32 letters, digits, - and _, and begins with a letter";

  test.each([
    ["{licence 1}", "--require \"{licence 1}\" cannot be read, line 1, column 10: invalid character '1'"],
    ["{a: 1,\n b: }", "--require \"{a: 1,\\n b: }\" cannot be read, line 2, column 5: invalid character '}'"],
    ["", '--require "" cannot be read, line 1, column 1: invalid end of input'],
    ["[1]", '--require takes names with amounts, got "[1]"'],
    ["3", '--require takes names with amounts, got "3"'],
    ["null", '--require takes names with amounts, got "null"'],
    ["{a: 0}", `--require a is 0: ${AMOUNT}`],
    ["{a: -1}", `--require a is -1: ${AMOUNT}`],
    ["{a: Infinity}", `--require a is Infinity: ${AMOUNT}`],
    ["{a: NaN}", `--require a is NaN: ${AMOUNT}`],
    ["{a: 0.0001}", `--require a is 0.0001: ${AMOUNT}`],
    ["{a: 1e9}", `--require a is 1000000000: ${AMOUNT}`],
    ["{a: '1'}", `--require a is "\\"1\\"": ${AMOUNT}`],
    ["{a: {b: 1}}", `--require a is "{\\"b\\":1}": ${AMOUNT}`],
    ["{a: [[1]]}", `--require a is "[1]": ${AMOUNT}`],
    ["{a: []}", "--require a takes a number, or a list of 1 to 64 numbers"],
    ["{__proto__: 1}", `--require has the name "__proto__": ${NAME}`],
    ["{constructor: 1}", `--require has the name "constructor": ${NAME}`],
    ["{'a b': 1}", `--require has the name "a b": ${NAME}`],
    ["{cpu: 1, cpus: 2}", "--require has cpu and cpus, which mean the same"],
    ["{memory: [1, 2]}", `--require memory is "[1,2]": ${AMOUNT}`],
    [
      "{gpu: [0.5, 0.5]}",
      "--require gpu is [0.5, 0.5]: a job gets whole cards, and a part of at most one more",
    ],
  ])("%j is refused", (text, message) => {
    const refused = () => parseNeed(text);
    expect(refused).toThrow(UserError);
    expect(refused).toThrow(message);
  });
});
