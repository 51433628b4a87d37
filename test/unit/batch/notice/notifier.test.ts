import { afterEach, beforeEach, expect, test } from "vitest";
import { NoticeStore } from "../../../../src/batch/notice/notice-store.js";
import { Notifier } from "../../../../src/batch/notice/notifier.js";
import type { RunEvent } from "../../../../src/model/event.js";
import type { Outcome } from "../../../../src/model/job.js";
import type { Notice, NoticeFacts } from "../../../../src/model/notice.js";
import { apply } from "../../../../src/plan/fold/apply.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";
import { countJobs, type RunState } from "../../../../src/plan/run-state.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";
import { assigned, FAILURE, ready, SUCCESS, slotsWith, someJobs, started } from "../../report/builders.js";

const AT_END: Notice = { command: "end", on: "end" };
const AT_FAILURE: Notice = { command: "failure", on: "failure" };
const LOST: Outcome = { kind: "lost", reason: "reboot" };

let work: Workspace;
beforeEach(async () => {
  work = await makeWorkspace({ "job_results/.sshoal/jobs.sh.jsonl": "" });
});
afterEach(() => work.remove());

const storeIn = (stateDir: string | null) =>
  new NoticeStore({ stateDir, computer: "here" }, work.dir, "jobs.sh");
const store = () => storeIn(work.path("state"));

/** One client, fed with events as a run feeds it. */
class Client {
  readonly sent: { command: string; facts: NoticeFacts }[] = [];
  readonly notifier: Notifier;
  readonly state: RunState;

  constructor(asked: Notice | null, { retries = 0, kept = store() } = {}) {
    const policy = { retries, retriesFailures: retries > 0, reassignAfterMs: null };
    this.state = initialState({ jobs: someJobs(2), machines: ["a"], policy });
    const send = async (command: string, facts: NoticeFacts) => void this.sent.push({ command, facts });
    this.notifier = new Notifier({ store: kept, asked, directory: work.dir, stem: "jobs.sh", send });
  }

  tell(...events: RunEvent[]): this {
    for (const event of events) {
      apply(this.state, event);
      this.notifier.note(event, this.state);
    }
    return this;
  }

  begin(): this {
    return this.tell(started(someJobs(2)), ready("a", slotsWith([], []))).tell(assigned("a", [1, 2]));
  }

  /** Its results are here. */
  collect(job: number, outcome: Outcome, at = 100): this {
    const about = { job, attempt: 1, machine: "a", at };
    return this.tell(
      { kind: "job-started", slot: 0, ...about },
      { kind: "job-ended", outcome, durationMs: 1, ...about },
      { kind: "job-collected", outcome, files: 0, bytes: 0, ...about },
    );
  }

  end(): this {
    return this.tell({ kind: "run-ended", at: 200, counts: countJobs(this.state) });
  }

  get commands(): string[] {
    return this.sent.map(({ command }) => command);
  }
}

test("once at the end, with how the jobs ended", () => {
  const client = new Client(AT_END).begin().collect(1, SUCCESS).collect(2, FAILURE);
  expect(client.commands).toEqual([]);
  expect(client.end().commands).toEqual(["end"]);
  expect(client.sent[0]?.facts).toMatchObject({
    on: "end",
    batch: "b1",
    stem: "jobs.sh",
    counts: { succeeded: 1, failed: 1 },
    failedJobs: ["batch.sh.2"],
  });
  expect(store().load()).toBe(null);
});

test("at the first failure alone; a batch without one lets it lapse", () => {
  const failing = new Client(AT_FAILURE).begin().collect(1, FAILURE);
  expect(failing.commands).toEqual(["failure"]);
  expect(failing.collect(2, LOST).end().commands).toEqual(["failure"]);
  const fine = new Client(AT_FAILURE).begin().collect(1, SUCCESS).collect(2, SUCCESS).end();
  expect(fine.commands).toEqual([]);
  expect(store().load()).toBe(null);
});

test("a failure that is retried is none yet", () => {
  const client = new Client(AT_FAILURE, { retries: 1 }).begin().collect(1, FAILURE);
  expect(client.commands).toEqual([]);
});

test("a client that leaves, or is killed, leaves it to the next one", () => {
  new Client(AT_END).begin().collect(1, SUCCESS);
  const next = new Client(null).begin().collect(1, SUCCESS).collect(2, SUCCESS).end();
  expect(next.commands).toEqual(["end"]);
});

test("one that was killed after the last result, and before the command: the next one runs it", () => {
  new Client(AT_END).begin().collect(1, SUCCESS).collect(2, SUCCESS);
  const skipped = (job: number): RunEvent => ({ kind: "job-skipped", at: 300, job, outcome: SUCCESS });
  const next = new Client(AT_END)
    .begin()
    .collect(1, SUCCESS)
    .collect(2, SUCCESS)
    .tell(skipped(1), skipped(2))
    .end();
  expect(next.commands).toEqual(["end"]);
});

test("a batch that is done does not end again", () => {
  const skipped = (job: number): RunEvent => ({ kind: "job-skipped", at: 300, job, outcome: SUCCESS });
  const again = new Client(AT_END).tell(started(someJobs(2)), skipped(1), skipped(2)).end();
  expect(again.commands).toEqual([]);
  expect(store().load()).toBe(null);
});

test("jobs that go on without this client are not at their end", () => {
  const client = new Client(AT_END).begin().collect(1, SUCCESS);
  client.tell({ kind: "machine-failed", at: 0, machine: "a", reason: "refused", hint: null }).end();
  expect(client.commands).toEqual([]);
  expect(store().load()).toMatchObject(AT_END);
});

test("without a machine nothing began, and nothing is reported later", () => {
  const client = new Client(AT_END).tell(started(someJobs(2)));
  client.tell({ kind: "machine-failed", at: 0, machine: "a", reason: "refused", hint: null }).end();
  expect(client.commands).toEqual([]);
  expect(store().load()).toBe(null);
});

test("another command for the same batch, typed while it is followed, takes its place; an empty one takes it away", () => {
  const client = new Client(AT_END).begin();
  store().save({ command: "other", on: "end" }, 0);
  expect(client.collect(1, SUCCESS).collect(2, SUCCESS).end().commands).toEqual(["other"]);
  new Client(AT_END).begin();
  const none = new Client({ command: "", on: "end" }).begin().collect(1, SUCCESS).collect(2, SUCCESS).end();
  expect(none.commands).toEqual([]);
});

test("where it cannot be kept, this client runs it, and knows that no other will", () => {
  const client = new Client(AT_END, { kept: storeIn(null) }).begin();
  expect(client.notifier.isForgetful).toBe(true);
  expect(client.collect(1, SUCCESS).collect(2, SUCCESS).end().commands).toEqual(["end"]);
  expect(client.end().commands).toEqual(["end"]);
});
