import { expect, test } from "vitest";
import { UserError } from "../../../../src/errors.js";
import type { JobAsk, Queue } from "../../../../src/model/queue.js";
import { newJobs } from "../../../../src/service/jobs/new-jobs.js";

function aQueue(over: Partial<Queue> = {}): Queue {
  const spec = { name: "train", capacity: null, machines: [], cwd: null, prefix: [], envNames: [] };
  return {
    ...spec,
    maxJobs: null,
    ahead: null,
    notify: null,
    isPaused: false,
    createdAt: 0,
    joined: [],
    ...over,
  };
}

function take(jobs: readonly JobAsk[], queue = aQueue(), known: Readonly<Record<string, number>> = {}) {
  const ids = Object.values(known);
  return newJobs(
    { queue: queue.name, jobs, cwd: "/here" },
    {
      queue,
      firstId: 10,
      idOfName: (name) => known[name],
      isThere: (id) => ids.includes(id),
      resultsDir: "/results",
    },
  );
}

function mistakes(jobs: readonly JobAsk[], queue = aQueue()): string {
  try {
    take(jobs, queue);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error("no mistake was reported");
}

test("a job has the next id, the directory of the shell, a core, and results of its own", () => {
  const [one, two] = take([{ command: "true" }, { command: "true", name: "lr" }]);
  expect(one).toMatchObject({ id: 10, cwd: "/here", need: { cpus: 1 }, results: "/results/train/job/10" });
  expect(two).toMatchObject({ id: 11, name: "lr", results: "/results/train/lr/11" });
});

test("the job's own directory takes precedence over that of the queue, and this over that of the shell", () => {
  const queue = aQueue({ cwd: "/queue" });
  expect(take([{ command: "true" }], queue)[0]?.cwd).toBe("/queue");
  expect(take([{ command: "true", cwd: "/own" }], queue)[0]?.cwd).toBe("/own");
});

test("with results here, they go to job_results of the job's directory", () => {
  const [job] = take([{ command: "true", name: "a", terms: { resultsHere: true } }]);
  expect(job?.results).toBe("/here/job_results/a.10");
});

test("the prefix of a queue comes before the words, and no shell reads them", () => {
  const queue = aQueue({ prefix: ["python", "train.py"] });
  const words = ["--lr", "1; rm -rf ~", "it's"];
  const [job] = take([{ command: "ignored", words }], queue);
  expect(job?.command).toBe(`python train.py --lr '1; rm -rf ~' 'it'\\''s'`);
  expect(take([{ command: "--lr 'a b'" }], queue)[0]?.command).toBe("python train.py --lr 'a b'");
  expect(take([{ command: "ignored", words: [] }], queue)[0]?.command).toBe("python train.py");
  expect(mistakes([{ command: "--lr 'a b" }], queue)).toContain("a quote is not closed");
});

test("dependencies by id, by name, and by the place in the request", () => {
  const after = [
    { job: 3, when: "succeeded" },
    { job: "4", when: "ended" },
    { job: "prepare", when: "failed" },
    { place: 0, when: "succeeded" },
  ] as const;
  const [, job] = take([{ command: "true" }, { command: "true", after }], aQueue(), {
    a: 3,
    b: 4,
    prepare: 7,
  });
  expect(job?.after.map(({ job: id }) => id)).toEqual([3, 4, 7, 10]);
});

test("a job that is named twice counts once", () => {
  const after = [
    { job: 3, when: "succeeded" },
    { job: "prepare", when: "succeeded" },
    { job: "3", when: "ended" },
  ] as const;
  const [job] = take([{ command: "true", after }], aQueue(), { prepare: 3 });
  expect(job?.after).toEqual([
    { job: 3, when: "succeeded" },
    { job: 3, when: "ended" },
  ]);
});

test.each(["a\u001b[31m", "a\u202eb", "a\ud800", "a\tb"])("no job has the name %j", (name) => {
  expect(mistakes([{ command: "true", name }])).toContain("cannot be used");
});

test("every mistake of every job is reported at once", () => {
  const message = mistakes([
    { command: " " },
    { command: "true", name: "a/b", priority: 1000 },
    { command: "true", after: [{ job: "gone", when: "succeeded" }] },
    { command: "true", name: "12", cwd: "relative" },
  ]);
  for (const part of [
    "job 1: the command is empty",
    'job 2: the name "a/b" cannot be used',
    "job 2: a priority is a whole number from -499 to 499",
    "job 3: it comes after gone, and the queue train has no such job",
    'job 4: the name "12" cannot be used',
    "job 4: the directory relative is no absolute path",
  ])
    expect(message).toContain(part);
});

test("a circle is refused, and a long chain is none", () => {
  const circle: JobAsk[] = [1, 2, 0].map((place) => ({
    command: "true",
    after: [{ place, when: "succeeded" }],
  }));
  expect(mistakes(circle)).toContain("jobs come after each other in a circle: 1 → 2 → 3 → 1");
  const chain = Array.from({ length: 20_000 }, (_, place): JobAsk => {
    return { command: "true", ...(place > 0 && { after: [{ place: place - 1, when: "succeeded" }] }) };
  });
  expect(take(chain)).toHaveLength(20_000);
});
