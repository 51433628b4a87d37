import { describe, expect, test } from "vitest";
import { chooseJobs, type JobChoice } from "../../../../src/batch/name/choose-jobs.js";
import { UserError } from "../../../../src/errors.js";
import { apply } from "../../../../src/plan/fold/apply.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";

const POLICY = { retries: 0, retriesFailures: false, reassignAfterMs: null };

/** Names: a number means a line. */
function aBatch(stem: string, ...names: (number | string)[]) {
  const jobs = names.map((name, index) => ({
    id: index + 1,
    line: typeof name === "number" ? name : index + 1,
    name: `${stem}.${name}`,
    command: "true",
  }));
  const state = initialState({ jobs, machines: [], policy: POLICY });
  return { stem, batch: `${stem}-0a1b2c3d`, script: stem, dir: "/here", jobs, state };
}

function skip(batch: ReturnType<typeof aBatch>, job: number, code: number): void {
  apply(batch.state, { kind: "job-skipped", job, outcome: { kind: "exited", code }, at: 0 });
}

const one = aBatch("train.sh", 1, 3, 4, 7, 12);
const two = aBatch("eval.sh", 1, 2);
const named = aBatch("go.sh", 1, "prepare", 3, "3-7");
skip(one, 1, 0);
skip(one, 2, 1);
skip(two, 2, 1);

function names(batches: readonly ReturnType<typeof aBatch>[], ...words: string[]): string[] {
  return chooseJobs(batches, { words, states: [] }).flatMap(({ jobs }) => jobs.map(({ name }) => name));
}

describe("words that name jobs", () => {
  test.each<[string[], string[]]>([
    [["3"], ["train.sh.3"]],
    [["003"], ["train.sh.3"]],
    [["3-7"], ["train.sh.3", "train.sh.4", "train.sh.7"]],
    [["5-9"], ["train.sh.7"]],
    [
      ["12", "1"],
      ["train.sh.1", "train.sh.12"],
    ],
    [["1,4-7"], ["train.sh.1", "train.sh.4", "train.sh.7"]],
    [
      ["3", "3-4", "train.sh.3"],
      ["train.sh.3", "train.sh.4"],
    ],
    [["train.sh.1*"], ["train.sh.1", "train.sh.12"]],
    [["1*"], ["train.sh.1", "train.sh.12"]],
    [["?"], ["train.sh.1", "train.sh.3", "train.sh.4", "train.sh.7"]],
    [["[!34]"], ["train.sh.1", "train.sh.7"]],
    [["[1-3]"], ["train.sh.1", "train.sh.3"]],
    [["train.sh", "3"], ["train.sh.3"]],
    [["train.sh-0a1b2c3d", "3"], ["train.sh.3"]],
  ])("%j", (words, found) => {
    expect(names([one], ...words)).toEqual(found);
  });

  test.each<[string[], string[]]>([
    [["prepare"], ["go.sh.prepare"]],
    [["2"], ["go.sh.prepare"]],
    [["prep*"], ["go.sh.prepare"]],
    [["go.sh.3-7"], ["go.sh.3-7"]],
    [["3"], ["go.sh.3"]],
  ])("%j for jobs with their own names", (words, found) => {
    expect(names([named], ...words)).toEqual(found);
  });

  test.each<[string[], string[]]>([
    [["12"], ["train.sh.12"]],
    [["eval.sh", "1"], ["eval.sh.1"]],
    [
      ["eval.sh.1", "train.sh.3"],
      ["train.sh.3", "eval.sh.1"],
    ],
    [["*.1"], ["train.sh.1", "eval.sh.1"]],
    [["eval.sh"], ["eval.sh.1", "eval.sh.2"]],
  ])("%j for two batches", (words, found) => {
    expect(names([one, two], ...words)).toEqual(found);
  });

  test("a batch is chosen as a whole only by its name alone", () => {
    const isWhole = (words: string[], states: JobChoice["states"] = []) =>
      chooseJobs([one], { words, states }).map((each) => each.isWhole);
    expect(isWhole(["train.sh"])).toEqual([true]);
    expect(isWhole(["train.sh", "1-100"])).toEqual([false]);
    expect(isWhole(["*"])).toEqual([false]);
    expect(isWhole(["train.sh"], ["waiting"])).toEqual([false]);
  });
});

test.each<[string[], JobChoice["states"], string[]]>([
  [[], ["failed"], ["train.sh.3", "eval.sh.2"]],
  [["train.sh"], ["failed"], ["train.sh.3"]],
  [
    ["train.sh.1", "3-4"],
    ["succeeded", "waiting"],
    ["train.sh.1", "train.sh.4"],
  ],
])("%j in the states %j", (words, states, found) => {
  const chosen = chooseJobs([one, two], { words, states });
  expect(chosen.flatMap(({ jobs }) => jobs.map(({ name }) => name))).toEqual(found);
});

test.each<[string[], JobChoice["states"], string, string]>([
  [["2"], [], "there is no job 2 here", "did you mean train.sh.1 or train.sh.3 or train.sh.4?"],
  [["20-30"], [], "there is no job 20-30 here", "did you mean train.sh.12 or"],
  [["7-3"], [], "7-3 is not a range", "3-7"],
  [["1,7-3"], [], "7-3 is not a range", "3-7"],
  [[","], [], "there is no job , here", "there are train.sh.1"],
  [["3-"], [], "there is no job 3- here", "there are train.sh.1"],
  [[""], [], "there is no job  here", "there are train.sh.1"],
  [["tarin.sh.3"], [], "there is no job tarin.sh.3 here", "did you mean train.sh.3"],
  [["zzz*"], [], "there is no job zzz* here", "there are train.sh.1"],
  [["["], [], "there is no job [ here", "there are train.sh.1"],
  [["[z-a]"], [], "[z-a]: the brackets have no valid range of letters", "[a-c]"],
  [["1", "99"], [], "there is no job 99 here", "did you mean train.sh.12 or"],
  [["4"], ["failed"], "no job of 4 is failed", "sshoal status"],
  [[], ["lost", "stopped"], "no job here is lost or stopped", "sshoal status"],
])("%j in %j matches no job, and the hint says what to type instead", (words, states, message, hint) => {
  expect(refusal([one], { words, states })).toEqual({ message, hint: expect.stringContaining(hint) });
});

test("a number that two batches have is refused, and the error distinguishes them", () => {
  expect(refusal([one, two], { words: ["1"], states: [] })).toEqual({
    message: "2 batches here have jobs that match 1: which one?",
    hint: "name the batch, too: train.sh 1, or eval.sh 1",
  });
});

test("if two batches have a number, the only one that fits is meant", () => {
  const choice = { words: ["1"], states: [] };
  expect(
    chooseJobs([one, two], choice, ({ stem }) => stem === "eval.sh").map(({ here }) => here.stem),
  ).toEqual(["eval.sh"]);
});

test("a glob with many stars is matched quickly", () => {
  const glob = `${"*".repeat(200)}x`;
  expect(refusal([aBatch(`${"a".repeat(200)}.sh`, 1)], { words: [glob], states: [] })).toMatchObject({
    message: `there is no job ${glob} here`,
  });
});

function refusal(batches: readonly ReturnType<typeof aBatch>[], choice: JobChoice): unknown {
  try {
    chooseJobs(batches, choice);
  } catch (error) {
    if (error instanceof UserError) return { message: error.message, hint: error.hint };
  }
  return null;
}
