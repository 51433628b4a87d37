// The commands of a sweep, as the two built commands print them, and every mistake in what was typed.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CommandResult, runCommand } from "../rig/command.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const SWEEP_FILE = `command: train --model {model} --lr {lr} --pools {pool0} {pool1}
list:
  - {model: resnet}
  - {model: "my vit"}
grid:
  lr: [1e-4]
  pool0: [1, 2]
  pool1: [1, 2]
reject: pool0 == pool1
when: not (model == 'resnet' and pool0 > 1)
`;

let work: Workspace;

beforeAll(async () => {
  work = await makeWorkspace({ "sweep.yaml": SWEEP_FILE });
});
afterAll(() => work?.remove());

function sweep(...args: string[]): Promise<CommandResult> {
  return runCommand(["sweep", ...args], { cwd: work.dir, program: "sshoal" });
}

function hypersearch(...args: string[]): Promise<CommandResult> {
  return runCommand(args, { cwd: work.dir, program: "simple-hypersearch" });
}

async function linesOf(result: Promise<CommandResult>): Promise<string[]> {
  const { code, stdout, stderr } = await result;
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return stdout.split("\n").slice(0, -1);
}

async function expectRefused(result: Promise<CommandResult>, said: string): Promise<void> {
  const { code, stdout, stderr } = await result;
  expect(stderr).toBe(said);
  expect(stdout).toBe("");
  expect(code).toBe(2);
}

describe("sshoal sweep", () => {
  test("prints the grid in the order of the parameters", async () => {
    const command = "python train.py --lr {lr} --bs {bs}";
    const words = ["-p", "lr", "0.001", "0.0005", "-p", "bs", "32", "64", "128"];
    expect(await linesOf(sweep(command, ...words))).toEqual([
      "python train.py --lr 0.001 --bs 32",
      "python train.py --lr 0.001 --bs 64",
      "python train.py --lr 0.001 --bs 128",
      "python train.py --lr 0.0005 --bs 32",
      "python train.py --lr 0.0005 --bs 64",
      "python train.py --lr 0.0005 --bs 128",
    ]);
  });

  test("draws at random, combined with lists, the same on every run unless the seed is another", async () => {
    const words = [
      "t {lr} {n} {opt} {seed}",
      "--p",
      "lr=log:1e-5..1e-1",
      "-p",
      "n=int:1..10",
      "-p",
      "opt",
      "a",
      "b",
    ];
    const lines = await linesOf(sweep(...words, "--n-samples", "8"));
    expect(new Set(lines).size).toBe(8);
    for (const line of lines) expect(line).toMatch(/^t (0\.0\d+|\d\.?\d*e-\d) ([1-9]|10) [ab] \d+$/);
    expect(await linesOf(sweep(...words, "--n-samples", "8", "--seed", "0"))).toEqual(lines);
    expect(await linesOf(sweep(...words, "--n-samples", "8", "--seed", "1"))).not.toEqual(lines);
  });

  test("reads a sweep file; the command line takes precedence", async () => {
    const all = [
      "train --model resnet --lr 1e-4 --pools 1 2",
      "train --model 'my vit' --lr 1e-4 --pools 1 2",
      "train --model 'my vit' --lr 1e-4 --pools 2 1",
    ];
    expect(await linesOf(sweep("sweep.yaml"))).toEqual(all);
    expect(await linesOf(sweep("sweep.yaml", "--n-samples", "2", "--sampling-mode", "grid"))).toEqual(
      all.slice(0, 2),
    );
  });

  test("prints lines that bash reads as intended", async () => {
    const odd = ["it's", 'a "b"', "$HOME `x` \\", "{a,b} *", "", "-1"];
    const lines = await linesOf(sweep(`printf '%s|' {v} "{v}" '{v}' {i}`, "-p", "v", ...odd));
    const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", lines.join("\n")]);
    expect(stdout).toBe(odd.map((value, index) => `${value}|${value}|${value}|${index + 1}|`).join(""));
  });
});

describe("simple_hypersearch", () => {
  const command = "python3 train_dnn.py --lr {lr} --batch_size {bs}";
  const words = [command, "-p", "lr", "0.001", "0.0005", "0.0001", "-p", "bs", "32", "64", "128"];
  const grid = ["0.001", "0.0005", "0.0001"].flatMap((lr) =>
    ["32", "64", "128"].map((bs) => `python3 train_dnn.py --lr ${lr} --batch_size ${bs}`),
  );

  test("prints every combination, in an order that the seed decides", async () => {
    const lines = await linesOf(hypersearch(...words, "--seed", "7"));
    expect([...lines].sort()).toEqual([...grid].sort());
    expect(lines).not.toEqual(grid);
    expect(await linesOf(hypersearch(...words, "--seed", "7"))).toEqual(lines);
    expect(await linesOf(hypersearch(...words, "--sampling-mode", "grid"))).toEqual(grid);
  });

  test("without a seed, the order differs each time", async () => {
    const digits = Array.from("0123456789");
    const many = ["{a}{b}", "-p", "a", ...digits, "-p", "b", ...digits];
    expect(await linesOf(hypersearch(...many))).not.toEqual(await linesOf(hypersearch(...many)));
  });

  test("prints the given number of different ones", async () => {
    const lines = await linesOf(hypersearch(command, "--n-samples", "5", ...words.slice(1)));
    expect(new Set(lines).size).toBe(5);
    expect(lines.every((line) => grid.includes(line))).toBe(true);
  });

  test("inserts values unchanged", async () => {
    const lines = await linesOf(hypersearch("t {flags} {{x}}", "--parameter", "flags", "--a 1", "$B", "-1"));
    expect(lines.sort()).toEqual(["t $B {x}", "t --a 1 {x}", "t -1 {x}"]);
  });

  test("a reader that leaves early is no error", async () => {
    const program = fileURLToPath(new URL("../../dist/simple-hypersearch.js", import.meta.url));
    const numbers = "$(seq 1000)";
    const script = `"$0" "$1" "{a} {b}" -p a ${numbers} -p b $(seq 300) | head -1 | wc -l; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)("bash", [
      "--norc",
      "-c",
      script,
      process.execPath,
      program,
    ]);
    expect(stdout).toBe("1\n0\n");
    expect(stderr).toBe("");
  });
});

describe("mistakes are reported", () => {
  test("no command, or one that -p has swallowed", async () => {
    await expectRefused(
      sweep(),
      'error: which command?\ntry: sshoal sweep "python train.py --lr {lr}" -p lr 0.1 0.01\n',
    );
    await expectRefused(
      hypersearch("-p", "lr", "1", "t {lr}"),
      'error: which command? -p has taken "t {lr}" too\ntry: put the command first: simple_hypersearch "…" -p …\n',
    );
  });

  test("placeholders without parameters and the reverse, all at once", async () => {
    await expectRefused(
      sweep("t {lrr} {x}", "-p", "lr", "1", "1", "-p", "bs", "-p", "1", "2", "-p", "w=lgo:1..2"),
      [
        "error: the command: {lrr} is no parameter, did you mean {lr}?",
        "try: write {{lrr}} for the braces themselves",
        "error: the command: {x} is no parameter, did you mean {w}?",
        "try: write {{x}} for the braces themselves",
        'error: -p lr: "1" is given twice',
        "try: keep one",
        "error: -p lr: lr is not used in the command",
        "try: write {lr} where its values go",
        "error: -p bs: no values are given",
        "try: such as -p bs 1 2 3",
        "error: -p bs: bs is not used in the command",
        "try: write {bs} where its values go",
        'error: -p 1: a parameter cannot be called "1"',
        "try: the name comes before the values",
        'error: -p w=lgo:1..2: "lgo:1..2" is no distribution, did you mean "log:1..2"?',
        "error: -p w=lgo:1..2: w is not used in the command",
        "try: write {w} where its values go",
        "",
      ].join("\n"),
    );
    await expectRefused(
      sweep("t {{a},{b}}", "-p", "a", "1", "-p", "b", "2", "-p"),
      "error: -p a: a is not used in the command\ntry: write {a}: {{ is a brace itself\n" +
        "error: -p: no name is given\ntry: such as -p lr 0.1 0.01\n",
    );
    await expectRefused(
      sweep("t"),
      "error: the command: no parameters are given\ntry: such as -p lr 0.1 0.01\n",
    );
  });

  test("more samples than there are, or none if some are needed", async () => {
    for (const run of [sweep, hypersearch]) {
      await expectRefused(
        run("t {a}", "-p", "a", "1", "2", "--n-samples", "3"),
        "error: 3 samples were asked for, but there are 2 combinations\ntry: --n-samples 2, or more values\n",
      );
    }
    await expectRefused(
      sweep("t {a}", "-p", "a=uniform:0..1"),
      "error: a is drawn at random: how many samples?\ntry: --n-samples 20, or n_samples: 20 in a sweep file\n",
    );
    await expectRefused(
      sweep("t {a}", "-p", "a=uniform:0..1", "--n-samples", "2", "--sampling-mode", "grid"),
      "error: a is drawn at random and has no place in a grid\ntry: leave the sampling mode out, or give a a list of values\n",
    );
  });

  test("options", async () => {
    const words = ["t {a}", "-p", "a", "1"];
    await expectRefused(
      hypersearch(...words, "--n-samples", "0"),
      'error: --n-samples takes a number <n>, got "0"\ntry: for example --n-samples 2\n',
    );
    await expectRefused(
      hypersearch(...words, "--seed", "x"),
      'error: --seed takes a whole number of 0 or more, got "x"\ntry: for example --seed 7\n',
    );
    await expectRefused(
      hypersearch(...words, "--sampling-mode", "random"),
      "error: option '--sampling-mode <mode>' argument 'random' is invalid. Allowed choices are grid, shuffled_grid.\n" +
        "try: simple_hypersearch --help\n",
    );
    await expectRefused(
      sweep(...words, "--sed", "1"),
      "error: unknown option '--sed'\ntry: did you mean --seed?\n",
    );
  });

  test("a value that cannot be quoted at its place", async () => {
    await expectRefused(
      sweep("echo `ls {a}`", "-p", "a", "b c"),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash's
      'error: {a} stands within `…`, $\'…\' or "${…}", where "b c" cannot be quoted safely\n' +
        "try: use $(…) or plain quotes there, or {a!r} to paste the value as it is\n",
    );
  });

  test("the sweep file: missing, given with -p, full of mistakes, or with rules that do not work", async () => {
    await expectRefused(
      sweep("sweeep.yaml"),
      "error: sweeep.yaml: there is no such sweep file\ntry: did you mean sweep.yaml?\n",
    );
    await expectRefused(
      sweep("sweep.yaml", "-p", "a", "1"),
      "error: -p goes with a command, not with a sweep file\ntry: write the parameters into sweep.yaml\n",
    );
    await work.write(
      "bad.yaml",
      "command: t {aa}\ngird: {a: 1}\ngrid:\n  a: [1, 2]\nreject: b == 1\nseed: x\n",
    );
    await expectRefused(
      sweep("bad.yaml"),
      [
        "error: bad.yaml:1:10: {aa} is no parameter, did you mean {a}?",
        "try: write {{aa}} for the braces themselves",
        'error: bad.yaml:2:1: unknown key "gird", did you mean "grid"?',
        "error: bad.yaml:4:6: a is not used in the command",
        "try: write {a} where its values go",
        `error: bad.yaml:5:9: b is no parameter, did you mean "a"?`,
        "try: a text goes in quotes: 'b'",
        'error: bad.yaml:6:7: seed must be a whole number of 0 or more, got "x"',
        "",
      ].join("\n"),
    );
    const start = "command: t {a}\ngrid: {a: [1, x]}\n";
    await work.write("none.yaml", `${start}when: a == 3\n`);
    await expectRefused(
      sweep("none.yaml"),
      "error: the rules leave out all 2 combinations\ntry: look at when: and reject: again\n",
    );
    await work.write("order.yaml", `${start}reject: a < 3\n`);
    await expectRefused(
      sweep("order.yaml"),
      'error: order.yaml:3:9: "a < 3" asks whether x < 3, but 3 is a number and x is not\n' +
        "try: compare x by == or !=, or put what it is compared with in quotes\n",
    );
  });
});
