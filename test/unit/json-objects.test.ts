// The document's examples of what commands print beside events: each is exactly what is printed.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { doctorJson } from "../../src/cli/commands/doctor.js";
import { sweepJson } from "../../src/cli/commands/print-sweep.js";
import { probeJson } from "../../src/cli/commands/probe-machines.js";
import { jsonSink } from "../../src/cli/terminal/json-log.js";
import { problemsError } from "../../src/errors.js";
import { errorJson } from "../../src/report/lines/error-json.js";
import { stopJson } from "../../src/report/lines/stop-lines.js";
import { formatLeftOverJson } from "../../src/report/tables/left-over-json.js";
import { resultsJson } from "../../src/report/tables/results-json.js";
import { aSpec } from "./plan/a-machine.js";

const DOCUMENT = readFileSync(new URL("../../docs/json-events.md", import.meta.url), "utf8");
const AT = 1760000000000;
const MACHINE = "my_machine.yaml";
const BATCH = "train.sh-4f1d2c9a";

async function logLine(): Promise<string> {
  const written: Buffer[] = [];
  const about = { batch: BATCH, job: 2, name: "train.sh.2", stream: "err" } as const;
  const sink = jsonSink(async (bytes) => void written.push(bytes), about);
  await sink.write(Buffer.from("KeyError: 'lr'\n"));
  return Buffer.concat(written).toString().trimEnd();
}

function leftOver(): string {
  const row = { what: "batch", name: BATCH, bytes: 40960, ageSeconds: null, end: "kept" } as const;
  const rows = [{ ...row, reason: "3 running" }];
  return formatLeftOverJson([{ kind: "looked", machine: MACHINE, rows }]).trimEnd();
}

function result(): string | undefined {
  const about = { job: 5, name: "sweep-d5c3fa.5", line: null, command: "./train.sh 0.001 32" };
  const course = {
    state: "succeeded",
    startedAt: AT,
    durationMs: 1400,
    footprint: { cpuMs: 1210, memoryMb: 640 },
    machine: "gpu1.yaml",
  } as const;
  const row = {
    ...about,
    ...course,
    outcome: { kind: "exited", code: 0 } as const,
    parameters: new Map([
      ["lr", "0.001"],
      ["bs", "32"],
    ]),
    metrics: new Map([
      ["acc", 0.9509],
      ["loss", 0.1129],
    ]),
    slot: 2,
    attempt: 1,
  };
  return resultsJson({ batch: "sweep-d5c3fa-ac0ed559", rows: [row] })[0];
}

const MISTAKE = {
  where: "train.sh:3",
  message: "unexpected EOF while looking for matching `\"'",
  hint: "bash -n train.sh",
};
const CHECK = { check: "connection", verdict: "ok", says: "over ssh2", fix: null } as const;

test.each<[string, () => string | undefined | Promise<string>]>([
  ["error", () => errorJson(problemsError([MISTAKE]), AT)[0]],
  ["log-line", logLine],
  ["left-over", leftOver],
  ["job-result", result],
  ["job-stopped", () => stopJson({ job: 2, name: "train.sh.2", machine: MACHINE, end: "stopped" })],
  ["machine-checked", () => doctorJson({ machine: MACHINE, isFit: true, checks: [CHECK] })],
  [
    "failed",
    () =>
      probeJson({
        kind: "failed",
        spec: aSpec({ name: MACHINE }),
        reason: "connection refused",
        hint: "try: ssh my_machine",
      }),
  ],
  ["sweep-command", () => sweepJson([{ command: "python train.py --lr 0.1", parameters: { lr: "0.1" } }])[0]],
])("%s", async (kind, print) => {
  const line = await print();
  expect(JSON.parse(line ?? "").kind).toBe(kind);
  expect(DOCUMENT).toContain(`\n    ${line}\n`);
});

test("the examples for programs have only kinds and fields that the document has", () => {
  const page = readFileSync(new URL("../../docs/agents.md", import.meta.url), "utf8");
  const examples = [...page.matchAll(/^\{.*$/gm)].map(([line]) => JSON.parse(line));
  expect(examples.length).toBeGreaterThan(1);
  for (const example of examples) {
    expect(DOCUMENT).toContain(`"kind":"${example.kind}"`);
    for (const field of Object.keys(example))
      expect(DOCUMENT).toMatch(new RegExp(`"${field}":|\`${field}\``));
  }
});

test("every example of the document is one object with a version and a kind", () => {
  const examples = [...DOCUMENT.matchAll(/^ {4}(\{.*)$/gm)].map(([, line = ""]) => JSON.parse(line));
  expect(examples.length).toBeGreaterThan(50);
  for (const example of examples)
    expect(example).toMatchObject({ v: expect.any(Number), kind: expect.any(String) });
});
