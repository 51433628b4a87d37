// The audit of the torture test must be able to fail: each kind of problem is planted, and must be found.

import { describe, expect, test } from "vitest";
import type { JsonEvent } from "../../rig/batch.js";
import { audit, type Evidence, type Status, type Suffering } from "../../torture/audit.js";
import type { TrialJob } from "../../torture/jobs.js";
import { parseLedger } from "../../torture/ledger-entries.js";

const JOBS: readonly TrialJob[] = [
  { line: 1, deed: "make", ends: 0 },
  { line: 2, deed: "fail", ends: 7 },
  { line: 3, deed: "late", ends: "timed-out" },
];

const LEDGER = ["start 1-1 10.00", "done 1-1 10.10", "start 2-1 10.20", "done 2-1 10.30", "start 3-1 10.40"];

function ledger(lines: readonly string[], machine = "one.yaml") {
  return parseLedger(machine, lines.map((line) => line.replace(/ (\d)-/, " 500000000000$1-$1-")).join("\n"));
}

function ended(line: number, outcome: object, attempt = 1): JsonEvent {
  return { kind: "job-ended", job: line, attempt, machine: "one.yaml", outcome };
}

function status(line: number, outcome: object | null, over: Partial<Status> = {}): Status {
  const known = { job: line, state: "over", collected: true, machine: "one.yaml", key: `${line}-1`, ...over };
  return { ...known, outcome: outcome as Status["outcome"] };
}

const [FINE, SEVEN, LATE] = [{ kind: "exited", code: 0 }, { kind: "exited", code: 7 }, { kind: "timed-out" }];
const LOST = { kind: "lost", reason: "the machine was rebooted" };
const EMPTY = { out: "", files: {} };
const MADE = { out: "", files: { "made.txt": "made by 5000000000001-1-1\n" } };

/** A round without problems. */
function evidence(over: Partial<Evidence> = {}): Evidence {
  return {
    jobs: JOBS,
    entries: ledger(LEDGER),
    record: [ended(1, FINE), ended(2, SEVEN), ended(3, LATE)],
    statuses: [status(1, FINE), status(2, SEVEN), status(3, LATE)],
    counts: { succeeded: 1, failed: 2, stopped: 0, lost: 0, unfinished: 0 },
    results: new Map([
      ["jobs.sh.1", MADE],
      ["jobs.sh.2", EMPTY],
      ["jobs.sh.3", EMPTY],
    ]),
    suffered: new Map(),
    ...over,
  };
}

function suffering(over: Partial<Suffering> = {}): ReadonlyMap<string, Suffering> {
  return new Map([["one.yaml", { signals: new Set(), isBroken: false, isRebooted: false, ...over }]]);
}

function problems(over: Partial<Evidence>): string[] {
  return audit(evidence(over)).map(({ kind, text }) => `${kind}: ${text}`);
}

/** Line 1 ran a second time, and attempt 2 counts. */
const RETRIED: Partial<Evidence> = {
  entries: ledger(["start 1-1 9.00", ...LEDGER.map((line) => line.replace("1-1", "1-2"))]),
  record: [ended(1, LOST), ended(1, FINE, 2), ended(2, SEVEN), ended(3, LATE)],
  statuses: [status(1, FINE, { key: "1-2" }), status(2, SEVEN), status(3, LATE)],
  results: new Map([
    ...evidence().results,
    ["jobs.sh.1", { out: "", files: { "made.txt": "made by 5000000000001-1-2\n" } }],
    ["jobs.sh.1.old-1", EMPTY],
  ]),
};

test("a round in which every job ended as expected has no problems", () => {
  expect(problems({})).toEqual([]);
});

test("a lost attempt that is reported, kept and retried is no problem", () => {
  expect(problems(RETRIED)).toEqual([]);
});

describe("lost:", () => {
  test("a job without a report", () => {
    const counts = { succeeded: 0, failed: 2, stopped: 0, lost: 0, unfinished: 1 };
    const found = problems({ statuses: [status(2, SEVEN), status(3, LATE)], counts });
    expect(found).toEqual(["lost: line 1: is not reported at all"]);
  });

  test("a missing result", () => {
    const found = problems({ results: new Map([...evidence().results].slice(1)) });
    expect(found).toEqual(["lost: line 1: has no result in job_results"]);
  });

  test("a result of another attempt", () => {
    const wrong = { out: "", files: { "made.txt": "made by 5000000000001-1-2\n" } };
    const found = problems({ results: new Map([...evidence().results, ["jobs.sh.1", wrong]]) });
    expect(found).toEqual([
      expect.stringMatching(/^lost: line 1: its result is .*5000000000001-1-2.* instead of /),
    ]);
  });

  test("an input among the results, unless the tool that drops inputs may have been killed", () => {
    const more = { out: "", files: { "input.txt": "input\n", ...MADE.files } };
    const results = new Map([...evidence().results, ["jobs.sh.1", more]]);
    expect(problems({ results })).toEqual([expect.stringMatching(/^lost: line 1: its result is .*input/)]);
    expect(problems({ results, suffered: suffering({ isBroken: true }) })).toEqual([]);
  });

  test("a run that the record never mentions", () => {
    const found = problems({ record: [ended(2, SEVEN), ended(3, LATE)] });
    expect(found).toEqual(["lost: line 1: attempt 1 ran on one.yaml, and is not reported"]);
  });
});

describe("twice:", () => {
  test("one attempt that began twice", () => {
    const found = problems({ entries: ledger([...LEDGER, "start 1-1 11.00", "done 1-1 11.10"]) });
    expect(found).toEqual(["twice: line 1: attempt 1 began 2 times on one.yaml"]);
  });

  test("an attempt that another machine began, without a report", () => {
    const found = problems({ ...RETRIED, record: RETRIED.record?.slice(1) ?? [] });
    expect(found).toEqual(["twice: line 1: attempt 1 ran on one.yaml, and is not reported"]);
  });

  test("two attempts, but only one left results", () => {
    const results = new Map([...(RETRIED.results ?? [])].filter(([name]) => !name.includes("old")));
    const found = problems({ ...RETRIED, results });
    expect(found).toEqual(["twice: line 1: 2 attempts ran, 0 earlier results are kept"]);
  });

  test("a lost attempt that continued beside the next one", () => {
    const entries = [...(RETRIED.entries ?? []), ...ledger(["done 1-1 10.05"])];
    const found = problems({ ...RETRIED, entries });
    expect(found).toEqual(["twice: line 1: lost attempt 1 ran on beside attempt 2"]);
  });
});

test("killed as succeeded: a success without the job's own end", () => {
  const found = problems({ entries: ledger(LEDGER.filter((line) => !line.startsWith("done 1"))) });
  expect(found).toEqual([
    "killed-as-succeeded: line 1: attempt 1 is reported as exited 0, but did not come to its end",
  ]);
});

test("stranded: a job that is reported as unfinished", () => {
  const statuses = [
    status(1, null, { state: "succeeded", collected: false }),
    status(2, SEVEN),
    status(3, LATE),
  ];
  const found = problems({
    statuses,
    counts: { succeeded: 0, failed: 2, stopped: 0, lost: 0, unfinished: 1 },
  });
  expect(found).toEqual(["stranded: line 1: is reported as succeeded, outcome null"]);
});

describe("wrong end:", () => {
  const killed = { kind: "killed", signal: "SIGTERM" };
  const statuses = [status(1, FINE), status(2, killed), status(3, LATE)];

  test("a code that is not the job's", () => {
    const found = problems({ statuses: [status(1, FINE), status(2, FINE), status(3, LATE)] });
    expect(found).toContainEqual(expect.stringMatching(/^wrong-end: line 2: .* exited 0 .*meant: 7/));
  });

  test("a signal that was not sent", () => {
    expect(problems({ statuses })).toEqual([expect.stringMatching(/^wrong-end: line 2: .*killed SIGTERM/)]);
    expect(problems({ statuses, suffered: suffering({ signals: new Set(["SIGKILL"]) }) })).toHaveLength(1);
  });

  test("but not a signal that was sent", () => {
    expect(problems({ statuses, suffered: suffering({ signals: new Set(["SIGTERM"]) }) })).toEqual([]);
  });

  test("a failure on a machine whose tools all worked", () => {
    const failed = [status(1, FINE), status(2, { kind: "exited", code: 125 }), status(3, LATE)];
    expect(problems({ statuses: failed, suffered: suffering({ isRebooted: true }) })).toHaveLength(1);
    expect(problems({ statuses: failed, suffered: suffering({ isBroken: true }) })).toEqual([]);
  });
});

describe("client:", () => {
  test("counts that do not add up", () => {
    const found = problems({ counts: { succeeded: 1, failed: 1, stopped: 0, lost: 0, unfinished: 0 } });
    expect(found).toEqual([expect.stringMatching(/^client: .* for 3 jobs/)]);
  });

  test("more successes than there are", () => {
    const found = problems({ counts: { succeeded: 2, failed: 1, stopped: 0, lost: 0, unfinished: 0 } });
    expect(found).toEqual([expect.stringMatching(/^client: .*1 succeeded$/)]);
  });

  test("no counts", () => {
    expect(problems({ counts: null })).toEqual(["client: the last client printed no counts"]);
  });
});

test("a ledger with a line that no job writes is refused", () => {
  expect(() => parseLedger("one.yaml", "start 5000000000001-1-1 1.00\nstart 0000\n")).toThrow(
    /one\.yaml has "start 0000"/,
  );
});
