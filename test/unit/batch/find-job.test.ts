import { expect, test } from "vitest";
import { findJob } from "../../../src/batch/find-job.js";
import { UserError } from "../../../src/errors.js";

function aBatch(stem: string, ...lines: number[]) {
  return { stem, jobs: lines.map((line) => ({ id: line, line, name: `${stem}.${line}`, command: "true" })) };
}

const one = aBatch("train.sh", 1, 3, 12);
const two = aBatch("eval.sh", 1, 2);

test.each([
  ["train.sh.3", [one, two], "train.sh.3"],
  ["eval.sh.1", [one, two], "eval.sh.1"],
  ["12", [one], "train.sh.12"],
  ["012", [one], "train.sh.12"],
])("%s is a job", (word, batches, name) => {
  expect(findJob(batches, word)).toMatchObject({ job: { name } });
});

test.each([
  ["train.sh.2", [one, two], "there is no job train.sh.2 here", "did you mean train.sh.1 or train.sh.3"],
  ["2", [one], "there is no job train.sh.2 here", "did you mean train.sh.1"],
  ["tarin.sh.3", [one, two], "there is no job tarin.sh.3 here", "did you mean train.sh.3"],
  ["zzz", [two], "there is no job zzz here", "there are eval.sh.1, eval.sh.2"],
  ["1", [one, two], "there are 2 batches here: line 1 of which?", "sshoal logs train.sh.1, or eval.sh.1"],
])("%s is none, and what to type instead is said", (word, batches, message, hint) => {
  let error: unknown;
  try {
    findJob(batches, word);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(UserError);
  expect((error as UserError).message).toBe(message);
  expect((error as UserError).hint).toContain(hint);
});
