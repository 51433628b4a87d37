import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../src/model/job.js";
import { crashSign } from "../../../src/plan/crash-sign.js";

const exited = (code: number): Outcome => ({ kind: "exited", code });
const SEGV: Outcome = { kind: "killed", signal: "SIGSEGV" };

describe("the same crash", () => {
  const JOBS = "/home/a/.sshoal/batches/b-1@one/jobs";
  const SLOTS = "/home/a/.sshoal/batches/b-1@one/slots";

  test.each<[string, Outcome, string, string]>([
    ["the same last line", exited(1), "seed 1\nKeyError: 'lr'\n", "seed 2\nKeyError: 'lr'"],
    ["empty lines at the end", exited(1), "KeyError: 'lr'\n\n \n", "KeyError: 'lr'\n"],
    ["nothing printed", exited(3), "", "\n"],
    ["a signal", SEGV, "Segmentation fault", "Segmentation fault\n"],
    [
      "the path of a job's own script, in bash",
      exited(127),
      `${JOBS}/5000000000001-1-1/command: line 9: pythn: command not found\n`,
      `/data/x/batches/b-1@two/jobs/5000000000002-2-1/command: line 11: pythn: command not found\n`,
    ],
    [
      "the same in sh",
      exited(127),
      `${JOBS}/5000000000001-1-1/command: 9: pythn: not found\n`,
      `${JOBS}/5000000000012-12-1/command: 9: pythn: not found\n`,
    ],
    [
      "a killed program, which bash reports with its pid and arguments",
      { kind: "killed", signal: "SIGABRT" },
      `${JOBS}/5000000000001-1-1/command: line 7:  4711 Aborted                 python train.py --lr 0.1\n`,
      `${JOBS}/5000000000002-2-1/named: line 8: 114712 Aborted                 python train.py --lr 0.2\n`,
    ],
    [
      "the same in a script of the tree, with a core",
      exited(139),
      "./train.sh: line 3:  4711 Segmentation fault      (core dumped) python train.py\n",
      "./train.sh: line 3:  4712 Segmentation fault      (core dumped) python train.py\n",
    ],
    [
      "the directory of a slot",
      exited(2),
      `python3: can't open file '${SLOTS}/0/work/train.py': [Errno 2] No such file or directory`,
      `python3: can't open file '${SLOTS}/13/work/train.py': [Errno 2] No such file or directory`,
    ],
  ])("%s", (_, outcome, one, other) => {
    expect(crashSign(outcome, one)).not.toBeNull();
    expect(crashSign(outcome, one)).toBe(crashSign(outcome, other));
  });

  test.each<[string, [Outcome, string], [Outcome, string]]>([
    ["another code", [exited(1), "KeyError"], [exited(2), "KeyError"]],
    ["another line", [exited(1), "KeyError: 'lr'"], [exited(1), "KeyError: 'bs'"]],
    ["another number", [exited(1), "bad seed 1"], [exited(1), "bad seed 2"]],
    [
      "another end of a program",
      [exited(3), `${JOBS}/1-1/command: line 7:  4711 Aborted                 a`],
      [exited(3), `${JOBS}/1-1/command: line 7:  4711 Killed                  a`],
    ],
    ["another file of the tree", [exited(1), `${SLOTS}/0/work/a.py`], [exited(1), `${SLOTS}/0/work/b.py`]],
    ["a code and a signal", [exited(11), "x"], [SEGV, "x"]],
  ])("not: %s", (_, one, other) => {
    expect(crashSign(...one)).not.toBe(crashSign(...other));
  });
});

test.each<[string, Outcome, string]>([
  ["a success", exited(0), "warning: deprecated"],
  ["a silent exit code 1", exited(1), "\n"],
  ["a job that took too long", { kind: "timed-out" }, "epoch 3"],
  ["a stopped job", { kind: "stopped" }, ""],
  ["a lost job", { kind: "lost", reason: "rebooted" }, ""],
])("no crash: %s", (_, outcome, tail) => {
  expect(crashSign(outcome, tail)).toBeNull();
});
