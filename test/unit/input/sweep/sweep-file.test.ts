// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are bash's

import { describe, expect, test } from "vitest";
import { parseSweep } from "../../../../src/input/sweep/sweep-file.js";
import type { Sweep } from "../../../../src/model/sweep.js";
import { commandsOf } from "../../sweep/a-sweep.js";

function sweepOf(text: string): Sweep {
  const { sweep, problems } = parseSweep(text, "s.yaml");
  expect(problems).toEqual([]);
  if (sweep === null) throw new Error("no problems, and yet no sweep");
  return sweep;
}

/** "line:column: message", with the hint in brackets. */
function problemsOf(text: string): string[] {
  const { sweep, problems } = parseSweep(text, "s.yaml");
  expect(sweep).toBeNull();
  return problems.map(({ where, message, hint }) => {
    expect(where).toMatch(/^s\.yaml:\d+:\d+$/);
    const place = where.slice("s.yaml:".length);
    return hint === undefined ? `${place}: ${message}` : `${place}: ${message} (${hint})`;
  });
}

describe("what a file sets", () => {
  test("a grid, in the order of the file, with numbers as written", () => {
    const sweep = sweepOf("command: t {lr} {bs}\ngrid:\n  lr: [1e-4, 0.10]\n  bs: [32, 064]\n");
    expect(commandsOf(sweep)).toEqual(["t 1e-4 32", "t 1e-4 064", "t 0.10 32", "t 0.10 064"]);
  });

  test("one value needs no list", () => {
    expect(commandsOf(sweepOf("command: t {a}\ngrid: {a: no}\n"))).toEqual(["t no"]);
  });

  test("a list of parameters that vary together, crossed with a grid", () => {
    const sweep = sweepOf(`
command: t {model} {depth} {bs}
list:
  - {model: resnet, depth: 50}
  - {model: my vit, depth: 12}
grid:
  bs: [1, 2]
`);
    expect(commandsOf(sweep)).toEqual([
      "t resnet 50 1",
      "t resnet 50 2",
      "t 'my vit' 12 1",
      "t 'my vit' 12 2",
    ]);
  });

  test("rules: one, or several", () => {
    const pools = "command: t {pool0} {pool1}\ngrid:\n  pool0: [1, 2, 3]\n  pool1: [1, 2, 3]\n";
    expect(commandsOf(sweepOf(`${pools}when: pool0 == pool1\n`))).toEqual(["t 1 1", "t 2 2", "t 3 3"]);
    const several = `${pools}reject:\n  - pool0 == pool1\n  - pool0 > 1 and not pool1 == 1\nwhen: [pool0 < 3]\n`;
    expect(commandsOf(sweepOf(several))).toEqual(["t 1 2", "t 1 3", "t 2 1"]);
  });

  test("a parameter may be used by rules only", () => {
    const text = "command: t {n}\nlist: [{n: 1, size: big}, {n: 2, size: small}]\nreject: size == 'big'\n";
    expect(commandsOf(sweepOf(text))).toEqual(["t 2"]);
  });

  test("random parameters, samples, a seed and an order", () => {
    const sweep = sweepOf(
      "command: t {lr} {n}\nrandom:\n  lr: log:1e-5..1e-1\n  n: normal:0,1\nn_samples: 4\nseed: 3\nsampling_mode: shuffled_grid\n",
    );
    expect(sweep).toMatchObject({ samples: 4, seed: 3, samplingMode: "shuffled_grid" });
    expect(new Set(commandsOf(sweep)).size).toBe(4);
  });

  test("a command over several lines, folded", () => {
    expect(commandsOf(sweepOf("command: >\n  t\n  {a}\ngrid: {a: 1}\n"))).toEqual(["t 1"]);
  });
});

describe("mistakes of a file", () => {
  test("all at once, each with its place", () => {
    const text = `comand: t {lr}
grid:
  lr: [1, 1]
  bs: []
  1x: [1]
  m:
    - {a: 1}
random:
  lr: log:1..2
  wd: lgo:1..2
when: lr = 1
reject:
  - batch > 1
  - [a]
n_samples: 0
seed: -1
sampling_mode: shuffled
`;
    expect(problemsOf(text)).toEqual([
      '1:1: unknown key "comand", did you mean "command"?',
      "1:1: command is missing (such as command: python train.py --lr {lr})",
      '3:11: grid lr has "1" twice',
      "4:7: grid bs must have values, got a list",
      '5:7: a parameter cannot be called "1x" (letters, digits and _, a - or . within)',
      "7:7: each of grid m must be text, got a mapping",
      "9:7: lr gets its values in two places (keep one)",
      '10:7: random wd: "lgo:1..2" is no distribution, did you mean "log:1..2"?',
      '11:7: "=" is not allowed in a rule, did you mean "=="?',
      "13:5: batch is no parameter (a text goes in quotes: 'batch')",
      "14:5: each of reject must be text, got a list",
      '15:12: n_samples must be a whole number from 1 to 999999, got "0"',
      '16:7: seed must be a whole number of 0 or more, got "-1"',
      '17:16: sampling_mode must be grid or shuffled_grid, got "shuffled"',
    ]);
  });

  test.each([
    ["", ["1:1: the file has no content (write at least command: and grid:)"]],
    ["- a\n", ["1:1: expected lines of the form key: value (write at least command: and grid:)"]],
    ["a: 1\n---\nb: 1\n", ["2:1: a second document begins here (write one sweep per file)"]],
    ["command: t {i}\n", ["1:1: there are no parameters (write grid:, random: or list:)"]],
    [
      "command: t {sb} {lr:.2f}\ngrid:\n  bs: [1]\n  lr: [1]\n",
      [
        "1:10: {lr:.2f} is not understood, only {lr}, {lr!r} and {lr:0>4} are (write {{ and }} for braces themselves)",
        "1:10: {sb} is no parameter, did you mean {bs}? (write {{sb}} for the braces themselves)",
        "3:7: bs is not used in the command (write {bs} where its values go)",
        "4:7: lr is not used in the command (write {lr} where its values go)",
      ],
    ],
    [
      "command: t ${lr} {nothing}\ngrid: {lr: [1]}\n",
      [
        "1:10: {nothing} is no parameter (known: lr, i, seed; write {{nothing}} for the braces themselves)",
        "2:12: lr is not used in the command (write {lr}: ${lr} is a variable of the shell)",
      ],
    ],
    [
      'command: |\n  t {a}\n  u\ngrid: {a: ["x\\ny"]}\n',
      [
        "1:10: the command must be one line (join its lines; in a file, write it after >-)",
        "4:12: a value of a is more than one line (a job is one line)",
      ],
    ],
    [
      "command: t {a} {b}\nlist:\n  - {a: 1, b: 2}\n  - {a: 1}\n  - {a: 1, b: 2}\n  - {a: 1, b: 3, c: 4}\n  - x\n",
      [
        "4:5: b is missing here (every entry names the same parameters)",
        "5:5: the entry is repeated (keep one)",
        "6:5: the first entry has no c (every entry names the same parameters)",
        '7:5: each of list must be of the form {name: value, name: value}, got "x"',
      ],
    ],
    [
      "command: ''\ngrid: 3\n",
      ["1:10: the command is empty", '2:7: grid must hold lines of the form name: [value, value], got "3"'],
    ],
    [
      "command: t {pool0} {pool1}\ngrid: {pool0: [1], pool1: [1]}\nreject: pool0 == poll1\n",
      ["3:9: poll1 is no parameter, did you mean \"pool1\"? (a text goes in quotes: 'poll1')"],
    ],
  ])("%j", (text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });
});
