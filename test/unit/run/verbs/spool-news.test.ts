import { expect, test, vi } from "vitest";
import { LinkLost } from "../../../../src/fleet/link.js";
import type { News } from "../../../../src/model/event.js";
import type { Outcome } from "../../../../src/model/job.js";
import type { Control } from "../../../../src/remote/spool/control.js";
import type { SpoolEvent } from "../../../../src/remote/spool/spool-event.js";
import type { Known } from "../../../../src/run/verbs/known.js";
import type { MachineLink } from "../../../../src/run/verbs/machine-link.js";
import type { OutputPoller } from "../../../../src/run/verbs/output-poller.js";
import { SpoolNews } from "../../../../src/run/verbs/spool-news.js";
import { until } from "../../../rig/until.js";

const GOOD: Outcome = { kind: "exited", code: 0 };
const BAD: Outcome = { kind: "exited", code: 1 };
const key = (job: number) => `${String(job).padStart(7, "0")}-1`;
const ended = (job: number, outcome: Outcome): SpoolEvent => ({
  kind: "ended",
  key: key(job),
  slot: 0,
  outcome,
  durationMs: 1,
  facts: new Map(),
});
const started = (job: number): SpoolEvent => ({
  kind: "started",
  key: key(job),
  slot: 0,
  startedAt: null,
  facts: new Map(),
});

type ReadEnds = Control["readEnds"];

/** A machine that answers as it is told. */
function follow(readEnds: ReadEnds, facts: { isUnderWay?: (job: number) => boolean } = {}) {
  const told: string[] = [];
  const asked: (readonly string[])[] = [];
  const emit = (news: News) => {
    const tail = news.kind === "job-ended" ? ` ${JSON.stringify(news.stderrTail)}` : "";
    told.push(`${news.kind} ${"job" in news ? news.job : ""}${tail}`);
  };
  const control = {
    readEnds: (keys: readonly string[], stream: "out" | "err") => {
      asked.push(keys);
      return readEnds(keys, stream);
    },
  } as unknown as Control;
  const link = { spec: { name: "m" }, control: async () => control } as unknown as MachineLink;
  const isUnderWay = (_: string, job: number) => facts.isUnderWay?.(job) ?? true;
  const known = { isUnderWay, job: (id: number) => ({ id, name: `jobs.sh.${id}` }) } as unknown as Known;
  const poller = { watch() {}, unwatch() {} } as unknown as OutputPoller;
  const news = new SpoolNews({ known, link, poller, emit }, () => "err");
  return { told, asked, take: (...events: SpoolEvent[]) => events.forEach(news.take) };
}

const saying =
  (text: string): ReadEnds =>
  async (keys) =>
    new Map(keys.map((each) => [each, text]));

test("the end of a job that failed comes with its last lines, and all that follows waits for it", async () => {
  const { told, asked, take } = follow(saying("oops\n"));
  take(started(1), ended(1, BAD), started(2), ended(2, BAD), started(3));
  expect(told).toEqual(["job-started 1"]);
  await until("all is told", () => told.length === 5);
  expect(told.slice(1)).toEqual([
    'job-ended 1 "oops\\n"',
    "job-started 2",
    'job-ended 2 "oops\\n"',
    "job-started 3",
  ]);
  expect(asked).toEqual([[key(1), key(2)]]);
});

test("jobs that succeed or were stopped, and those that are not this client's any more, are told at once", () => {
  const { told, asked, take } = follow(saying("oops\n"), { isUnderWay: (job) => job !== 2 });
  take(started(1), ended(1, GOOD), ended(2, BAD), ended(3, { kind: "stopped" }), started(4));
  expect(told).toEqual(["job-started 1", "job-ended 1 undefined", "job-ended 3 undefined", "job-started 4"]);
  expect(asked).toEqual([]);
});

test("news that comes while the machine is asked is asked for next", async () => {
  let answer: (ends: Map<string, string>) => void = () => {};
  const { told, asked, take } = follow(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  take(ended(1, BAD));
  await until("it was asked", () => asked.length === 1);
  take(ended(2, BAD), ended(3, GOOD));
  answer(new Map([[key(1), "first"]]));
  await until("it was asked again", () => asked.length === 2);
  expect(told).toEqual(['job-ended 1 "first"']);
  answer(new Map());
  await until("all is told", () => told.length === 3);
  expect(told.slice(1)).toEqual(["job-ended 2 undefined", "job-ended 3 undefined"]);
});

test("without a link the end is told all the same", async () => {
  const { told, take } = follow(async () => {
    throw new LinkLost();
  });
  take(ended(1, BAD), started(2));
  await until("all is told", () => told.length === 2);
  expect(told).toEqual(["job-ended 1 undefined", "job-started 2"]);
});

test("a machine that does not answer holds up the news for five seconds, not for ever", async () => {
  vi.useFakeTimers();
  try {
    const { told, take } = follow(() => new Promise(() => {}));
    take(ended(1, BAD));
    await vi.advanceTimersByTimeAsync(4999);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toEqual(["job-ended 1 undefined"]);
  } finally {
    vi.useRealTimers();
  }
});

test("where a stream changed while several were read, each is asked for by itself", async () => {
  const { told, asked, take } = follow(async (keys) =>
    keys.length > 1 ? null : new Map([[keys[0] ?? "", `of ${keys[0]}`]]),
  );
  take(ended(1, BAD), ended(2, { kind: "timed-out" }));
  await until("all is told", () => told.length === 2);
  expect(told).toEqual([`job-ended 1 "of ${key(1)}"`, `job-ended 2 "of ${key(2)}"`]);
  expect(asked).toHaveLength(3);
});

test("a question is about two hundred events at most", async () => {
  const { told, asked, take } = follow(saying(""));
  take(...Array.from({ length: 450 }, (_, index) => ended(index + 1, BAD)));
  await until("all is told", () => told.length === 450);
  expect(asked.map((keys) => keys.length)).toEqual([200, 200, 50]);
  expect(told.at(-1)).toBe('job-ended 450 ""');
});
