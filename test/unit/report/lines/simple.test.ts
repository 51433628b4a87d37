import { expect, test } from "vitest";
import type { RunEvent } from "../../../../src/model/event.js";
import { createSimpleReporter } from "../../../../src/report/lines/simple.js";
import {
  FAILURE,
  jobCollected,
  jobEnded,
  jobStarted,
  ready,
  SOURCES,
  slotsWith,
  started,
  teller,
  unreachable,
} from "../builders.js";

function show(commands: readonly string[], events: readonly RunEvent[]) {
  const text = { stdout: "", stderr: "" };
  const reporter = createSimpleReporter({
    ...SOURCES,
    useUnicode: true,
    stdout: { write: (some) => (text.stdout += some) },
    stderr: { write: (some) => (text.stderr += some) },
    machines: ["a.yaml"],
    devicesOf: ({ slot }) => ({ CUDA_VISIBLE_DEVICES: String(slot + 2), CUDA_DEVICE_ORDER: "PCI_BUS_ID" }),
  });
  const jobs = commands.map((command, index) => ({
    id: index + 1,
    line: index + 1,
    name: `stdin.${index + 1}`,
    command,
  }));
  teller(reporter.show)(started(jobs), ready("a.yaml", slotsWith([2], [3])), ...events);
  reporter.close();
  return text;
}

test("a line for each command that begins, with its card; nothing else if all succeed", () => {
  const { stdout, stderr } = show(
    ["python train.py", "for i in 1 2; do\n  echo $i\ndone", "printf '\\a\u001b[2J'"],
    [1, 2, 3].flatMap((line) => [jobStarted(line, "a.yaml", line % 2), jobEnded(line), jobCollected(line)]),
  );
  expect(stdout.split("\n")).toEqual([
    "Processing command `python train.py` on gpu 3",
    "Processing command `for i in 1 2; do …` on gpu 2",
    "Processing command `printf '\\a\\x1b[2J'` on gpu 3",
    "",
  ]);
  expect(stderr).toBe("");
});

test("output of commands is unchanged, on the same stream", () => {
  const about = { kind: "job-output", at: 0, job: 1, attempt: 1 } as const;
  const { stdout, stderr } = show(
    ["true"],
    [
      { ...about, stream: "out", text: "one\ntwo\n" },
      { ...about, stream: "err", text: "bad" },
    ],
  );
  expect(stdout).toBe("one\ntwo\n");
  expect(stderr.split("\n")[0]).toBe("bad");
});

test("failures are reported at the end, and warnings at once", () => {
  const { stderr } = show(
    ["false"],
    [unreachable("b.yaml"), jobStarted(1, "a.yaml", 0), jobEnded(1, FAILURE), jobCollected(1)],
  );
  expect(stderr).toContain("WARNING: b.yaml is left out");
  expect(stderr).toContain("\n✗ 1  exit 1  a.yaml:2  1s\n");
});
