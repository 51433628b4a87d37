import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Job } from "../../../../src/model/job.js";
import { matchJobs, type PastJob } from "../../../../src/plan/edit/match-jobs.js";

function jobsOf(commands: readonly string[]): Job[] {
  return commands.map((command, index) => {
    const line = index + 1;
    return { id: line, line, name: `jobs.sh.${line}`, command };
  });
}

function pastOf(commands: readonly string[], progress: readonly number[] = []): PastJob[] {
  return jobsOf(commands).map((job, index) => ({
    job,
    command: job.command,
    progress: progress[index] ?? 0,
  }));
}

function match(past: readonly PastJob[], given: readonly Job[], by: "command" | "name" = "command") {
  return matchJobs(past, given, { highest: past.length, by });
}

const idsOf = (jobs: readonly Job[]) => jobs.map(({ id }) => id);

describe("by command", () => {
  test("a job keeps its id when its line moves, and starts in the order of the file", () => {
    const { jobs, gone, added } = match(pastOf(["A", "B", "C"]), jobsOf(["NEW", "A", "C", "B"]));
    expect(idsOf(jobs)).toEqual([4, 1, 3, 2]);
    expect(jobs.map(({ order, id }) => order ?? id)).toEqual([1, 2, 3, 4]);
    expect([gone, [...added]]).toEqual([[], [4]]);
  });

  test("dependencies follow their jobs to the ids that these have", () => {
    const [added, first, second] = jobsOf(["NEW", "A", "B"]) as [Job, Job, Job];
    const dependsOn = [
      { job: first.id, when: "succeeded" },
      { job: added.id, when: "ended" },
    ] as const;
    const { jobs } = match(pastOf(["A", "B"]), [added, first, { ...second, dependsOn }]);
    expect(jobs[2]).toMatchObject({
      id: 2,
      dependsOn: [
        { job: 1, when: "succeeded" },
        { job: 3, when: "ended" },
      ],
    });
  });

  test("equal commands are matched in order", () => {
    expect(idsOf(match(pastOf(["X", "A", "X"]), jobsOf(["A", "X", "X", "X"])).jobs)).toEqual([2, 1, 3, 4]);
  });

  test("if there were more equal commands before, those with the most progress stay", () => {
    const { jobs, gone } = match(pastOf(["X", "X", "X"], [1, 3, 3]), jobsOf(["X", "X"]));
    expect([idsOf(jobs), gone]).toEqual([[2, 3], [1]]);
  });

  test("a label distinguishes equal commands; without it, results follow the command", () => {
    const named = (job: Job, label: string) => ({ ...job, name: `jobs.sh.${label}`, label });
    const past = pastOf(["X", "X"]).map((each, index) => ({
      ...each,
      job: named(each.job, "ab".charAt(index)),
    }));
    const [one, two, three] = jobsOf(["X", "X", "X"]) as [Job, Job, Job];
    const given = [named(one, "new"), named(two, "b"), named(three, "a")];
    expect(idsOf(match(past, given).jobs)).toEqual([3, 2, 1]);
    expect(idsOf(match(past, [named(one, "c"), two]).jobs)).toEqual([1, 2]);
    expect(idsOf(match(pastOf(["X", "X"]), given).jobs)).toEqual([1, 2, 3]);
  });

  test("an appended command gets its line as id, if that is free", () => {
    const given = [...jobsOf(["A", "B"]), { id: 9, line: 9, name: "jobs.sh.9", command: "C" }];
    expect(match(pastOf(["A", "B"]), given).jobs[2]).toEqual(given[2]);
  });

  test("the command of the last attempt counts, not the later text of its line", () => {
    const [first] = pastOf(["B2"]) as [PastJob];
    const { gone, added } = match([{ ...first, command: "B" }], jobsOf(["B2"]));
    expect([gone, [...added]]).toEqual([[1], [2]]);
  });
});

test("by name, a job stays the same with any command", () => {
  const { jobs, gone } = match(pastOf(["A", "B", "C"]), jobsOf(["A", "B2"]), "name");
  expect([idsOf(jobs), gone]).toEqual([[1, 2], [3]]);
});

test("each past job is matched or gone, and as many as possible are kept", () => {
  const commands = fc.array(fc.constantFrom("A", "B", "C", "D"), { maxLength: 12 });
  fc.assert(
    fc.property(commands, commands, fc.array(fc.nat(3), { maxLength: 12 }), (before, after, progress) => {
      const past = pastOf(before, progress);
      const { jobs, gone, added, ids } = match(past, jobsOf(after));
      expect(jobs.map(({ name, command }) => [name, command])).toEqual(
        jobsOf(after).map(({ name, command }) => [name, command]),
      );
      expect(new Set(idsOf(jobs)).size).toBe(after.length);
      const kept = idsOf(jobs).filter((id) => !added.has(id));
      expect([...kept, ...gone].sort()).toEqual(past.map(({ job }) => job.id).sort());
      for (const id of kept) {
        const now = jobs.find((job) => job.id === id)?.command;
        expect(past.find(({ job }) => job.id === id)?.command).toBe(now);
      }
      for (const command of "ABCD") {
        const count = (list: readonly string[]) => list.filter((each) => each === command).length;
        const same = kept.filter((id) => past[id - 1]?.command === command);
        expect(same.length).toBe(Math.min(count(before), count(after)));
        expect(same).toEqual(same.toSorted((a, b) => a - b));
      }
      for (const id of added) expect(id).toBeGreaterThan(past.length);
      expect([...ids.values()]).toEqual(idsOf(jobs));
    }),
  );
});
