import { expect, test } from "vitest";
import { placeJob } from "../../../../../src/cli/commands/grass/place-job.js";

const QUEUES = [
  { name: "default", prefix: [] },
  { name: "q1", prefix: [] },
  { name: "job1", prefix: ["main.py"] },
];
const place = (queue: string | null, ...words: string[]) =>
  placeJob({ queue, words }, QUEUES, (word) => word === "python");

test("the queue that was named", () => {
  expect(place("q1", "x", "A=1")).toMatchObject({ queue: QUEUES[1], words: ["x", "A=1"], note: null });
});

test("without a queue, the first word may be one; a program goes to the queue default, with a note", () => {
  expect(place(null, "q1", "x")).toMatchObject({ queue: QUEUES[1], words: ["x"], note: null });
  expect(place(null, "python", "train.py")).toMatchObject({
    queue: QUEUES[0],
    words: ["python", "train.py"],
    note: "no queue is named python: this goes to the queue default",
  });
});

test.each([
  ["job2", null, "there is no queue job2, and no program", "did you mean job1?"],
  ["job2", "job2", "there is no queue job2", "did you mean job1?"],
  ["nothing", null, "there is no queue nothing, and no program", "grass create-queue nothing, or grass show"],
])("%s is neither", (word, queue, message, hint) => {
  expect(() => place(queue, word, "x")).toThrow(expect.objectContaining({ message, hint }));
});

test("a word like an option is no program, but may be an argument in a queue with a command", () => {
  expect(() => place("q1", "--jsn", "x")).toThrow("unknown option '--jsn'");
  expect(place("job1", "--lr=1")).toMatchObject({ words: ["--lr=1"] });
});

test("NAME=VALUE before a program is a variable; in a queue with a command it is an argument", () => {
  expect(place("q1", "A=1", "B={gpu}", "x", "C=1")).toMatchObject({
    words: ["x", "C=1"],
    variables: ["A=1", "B={gpu}"],
  });
  expect(place(null, "A=1", "python")).toMatchObject({ words: ["python"], variables: ["A=1"] });
  expect(place("job1", "lr=0.01")).toMatchObject({ words: ["lr=0.01"], variables: [] });
  expect(place("job1")).toMatchObject({ words: [] });
});

test("a queue without a command needs one", () => {
  expect(() => place("q1")).toThrow("which command?");
  expect(() => place("q1", "A=1")).toThrow("which command?");
});
