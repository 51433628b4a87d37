// A run that stays open, and is given its jobs one by one: on this computer, and over ssh.

import { existsSync, readdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadMachines } from "../../src/input/machine/load-machines.js";
import type { MachineSpec } from "../../src/model/machine.js";
import { scanTree } from "../../src/remote/tree/tree.js";
import { listSpool, waitFor } from "../rig/batch.js";
import { aJob, HERE, type OpenRun, startOpenRun } from "../rig/open-run.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const NO_ENV = new Map();
let host: TestHost;
let work: Workspace;
let open: OpenRun[];

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  work = await makeWorkspace();
  open = [];
});
afterEach(async () => {
  for (const each of open) await each.leave();
  await work.remove();
});
afterAll(() => host?.stop());

const start = async (machine: MachineSpec, own: Parameters<typeof startOpenRun>[2] = {}) => {
  const begun = await startOpenRun(work, [machine], own);
  open.push(begun);
  return begun;
};
const output = (name: string) => work.read(`job_results/${name}.out`);

const sshMachine = async (): Promise<MachineSpec> => {
  const known = { cwd: work.dir, homeDir: work.path("home"), configFile: null, knowsHost: async () => false };
  const [spec] = await loadMachines([await host.machineFile("max_jobs: 4")], known);
  return spec as MachineSpec;
};

describe.each([
  ["on this computer", async () => HERE],
  ["over ssh", sshMachine],
] as const)("%s", (_, machine) => {
  test("a run without jobs goes on, runs what it is given, and leaves nothing", async () => {
    const { run, of, collected, end } = await start(await machine());
    await until("the machine is measured", () => of("machine-ready").length === 1);
    run.give([aJob(1, "echo one"), aJob(2, "echo two")], NO_ENV);
    await collected(2);
    run.give([aJob(7, "echo $WORD")], new Map([[7, { WORD: "seven" }]]));
    await collected(3);
    await end();
    expect(await Promise.all([1, 2, 7].map((id) => output(`q.${id}`)))).toEqual([
      "one\n",
      "two\n",
      "seven\n",
    ]);
    expect(of("jobs-added").flatMap(({ jobs }) => jobs.map(({ id }) => id))).toEqual([1, 2, 7]);
  });

  test("a job runs in its own directory; a missing one makes it fail in its setup, and the slot goes on", async () => {
    const { run, of, end } = await start(await machine());
    const dir = await makeWorkspace();
    const jobs = [
      aJob(1, "pwd", { cwd: dir.dir }),
      aJob(2, "echo not here", { cwd: `${dir.dir}/it's gone` }),
      aJob(3, "[ 1 = 1 ] && pwd", { cwd: dir.dir }),
      aJob(4, "echo two >&2; echo one; exit 3", { mergesOutput: true }),
    ];
    run.give(jobs, NO_ENV);
    await end();
    const outcomes = new Map(of("job-ended").map(({ job, outcome }) => [job, outcome]));
    expect(outcomes.get(2)).toEqual({ kind: "exited", code: 125, cause: "setup-failed" });
    expect(await output("q.1")).toBe(`${dir.dir}\n`);
    expect(await output("q.3")).toBe(`${dir.dir}\n`);
    expect(await output("q.2")).toBe("");
    expect(await work.read("job_results/q.2.err")).toContain("it's gone");
    expect(await output("q.4")).toBe("two\none\n");
    expect(existsSync(work.path("job_results/q.4.err"))).toBe(false);
    expect(of("job-ended").find(({ job }) => job === 4)?.stderrTail).toBe("two\none\n");
    await dir.remove();
  });
});

test("the spool and its directories are gone after the end", async () => {
  const { run, end } = await start(HERE);
  run.give([aJob(1, "true")], NO_ENV);
  await end();
  expect(listSpool(work.path("home/.sshoal")).filter((path) => path.startsWith("batches/"))).toEqual([
    "batches/",
  ]);
});

test("a job that is over can be given again, as it is now; what is in progress cannot", async () => {
  const { run, of, collected, end } = await start(HERE);
  run.give([aJob(1, "echo old; false"), aJob(2, waitFor(work.path("go")))], NO_ENV);
  await collected(1);
  await until("the other one runs", () => of("job-started").length === 2);
  expect(() => run.give([aJob(3, "true"), aJob(2, "true")], NO_ENV)).toThrow("job 2");
  run.give([aJob(1, "echo new", { priority: 7, turn: 1 })], NO_ENV);
  await collected(2);
  await work.write("go", "");
  await end();
  expect(of("job-ended").map(({ job, attempt }) => [job, attempt])).toEqual([
    [1, 1],
    [1, 2],
    [2, 1],
  ]);
  expect(await output("q.1")).toBe("new\n");
  expect(await output("q.1.old-1")).toBe("old\n");
  expect(run.state.jobs.get(1)?.fate).toMatchObject({ rank: (7 - 500) * 10 ** 10 + 1 });
  expect(run.state.jobs.has(3)).toBe(false);
});

test("a stopped job can be given again", async () => {
  const { run, of, collected, end } = await start(HERE);
  run.give([aJob(1, waitFor(work.path("go")))], NO_ENV);
  await until("it runs", () => of("job-started").length === 1);
  run.emit({ kind: "jobs-stopping", jobs: [1] });
  await collected(1);
  expect(of("job-collected")[0]?.outcome.kind).toBe("stopped");
  run.give([aJob(1, "echo again")], NO_ENV);
  await collected(2);
  await end();
  expect(await output("q.1")).toBe("again\n");
});

test("results that are in place under the name of a new job move aside", async () => {
  await work.write("job_results/q.1/of-another", "");
  await work.write("job_results/q.1.out", "another\n");
  const { run, end } = await start(HERE);
  run.give([aJob(1, "echo mine")], NO_ENV);
  await end();
  expect([await output("q.1"), await output("q.1.old-1")]).toEqual(["mine\n", "another\n"]);
});

test("after a killed client exactly the given jobs go on", async () => {
  const wait = waitFor(work.path("go"));
  const one = HERE;
  const slow = { ...one, maxJobs: 1 };
  const before = await start(slow);
  const jobs = [aJob(1, "echo 1"), aJob(2, wait), aJob(3, "echo 3 >>$LOG"), aJob(4, "echo 4 >>$LOG")];
  const env = { LOG: work.path("log") };
  before.run.give(jobs, new Map(jobs.map(({ id }) => [id, env])));
  await before.collected(1);
  await until("the second runs, and the others wait there", () => before.of("jobs-handed-over").length > 0);
  await until("the second runs", () => before.of("job-started").length === 2);
  await before.leave();

  // 4 was taken back by its user meanwhile, and 1 runs once more: neither had reached the run.
  const given = [{ ...(jobs[0] as (typeof jobs)[0]), command: "echo 1 again", turn: 1 }, jobs[1], jobs[2]];
  const next = await start(slow, { jobs: given.flatMap((job) => job ?? []), env });
  await until("4 is taken back", () => next.of("jobs-taken-back").some((event) => event.jobs.includes(4)));
  await work.write("go", "");
  await next.end();
  expect(next.of("job-skipped")).toEqual([]);
  expect(await work.read("log")).toBe("3\n");
  expect([await output("q.1"), await output("q.1.old-1")]).toEqual(["1 again\n", "1\n"]);
  expect(
    next
      .of("job-ended")
      .map(({ job, attempt }) => `${job} ${attempt}`)
      .sort(),
  ).toEqual(["1 2", "2 1", "3 1"]);
  expect(readdirSync(work.path("job_results"))).not.toContain("q.4");
});

test("a client that goes on reports collected jobs with their outcomes, and gives forgotten ones a new attempt", async () => {
  const before = await start(HERE);
  before.run.give([aJob(1, "exit 3"), aJob(2, "echo 2")], NO_ENV);
  await before.collected(2);
  await before.leave();
  const next = await start(HERE, { jobs: [aJob(1, "exit 3")] });
  await until("it is reported", () => next.of("job-skipped").length === 1);
  expect(next.of("job-skipped")).toMatchObject([{ job: 1, outcome: { kind: "exited", code: 3 } }]);
  next.run.give([aJob(2, "echo 2 again")], NO_ENV);
  await next.collected(1);
  await next.end();
  expect(next.of("job-ended")).toMatchObject([{ job: 2, attempt: 2 }]);
  expect(await output("q.2")).toBe("2 again\n");
});

test("a job starts with the frozen directory that it names, on a run whose other jobs run in place", async () => {
  const [frozen, cwd] = [await makeWorkspace({ "a.txt": "frozen\n" }), await makeWorkspace()];
  const asked: unknown[] = [];
  const { run, end } = await start(await sshMachine(), {
    readTree: async (own) => {
      asked.push(own.tree);
      return scanTree(frozen.dir, ["."]);
    },
  });
  const job = aJob(1, "cat a.txt; echo made >b.txt", { tree: "t1", cwd: cwd.dir });
  await run.readTree(job);
  run.give([job, aJob(2, "pwd", { cwd: cwd.dir })], NO_ENV);
  await end();
  expect(asked).toEqual(["t1"]);
  expect([await output("q.1"), await output("q.2")]).toEqual(["frozen\n", `${cwd.dir}\n`]);
  expect(await work.read("job_results/q.1/b.txt")).toBe("made\n");
  expect(readdirSync(cwd.dir)).toEqual([]);
  for (const each of [frozen, cwd]) await each.remove();
});

test("results go where the names of jobs lead: below job_results/, or to another directory", async () => {
  const other = await makeWorkspace();
  const { run, end } = await start(HERE);
  const command = 'echo "$SSHOAL_JOB"; echo 1 >"$SSHOAL_RESULTS/made"';
  const [below, away] = ["train/17", `${other.dir}/job_results/train.18`];
  run.give([aJob(17, command, { name: below }), aJob(18, command, { name: away })], NO_ENV);
  await end();
  expect([await output(below), await other.read("job_results/train.18.out")]).toEqual([
    "train/17\n",
    "train.18\n",
  ]);
  expect(await work.read("job_results/train/17/made")).toBe("1\n");
  expect(await other.read("job_results/train.18/made")).toBe("1\n");
  await other.remove();
});

test("a job gets the whole environment of a shell, but not what is about that shell", async () => {
  const { run, end, of } = await start(HERE);
  const env = {
    TEXT: "a\n'b' \"c\" $HOME `d`",
    "BASH_FUNC_x%%": "() { echo function; }",
    "no-name": "1",
    PWD: "/wrong",
    OLDPWD: "/wrong",
    SHLVL: "99",
    _: "/wrong",
    UID: "7",
    SHELLOPTS: "xtrace",
    SSHOAL_JOB: "wrong",
    SSHOAL_SECRET: "wrong",
    CUDA_VISIBLE_DEVICES: "3",
  };
  const shows = "printenv TEXT SSHOAL_JOB SSHOAL_SECRET CUDA_VISIBLE_DEVICES PWD";
  const jobs = [aJob(1, shows, { cwd: "/usr" }), aJob(2, `[ 1 = 1 ] && ${shows}`, { cwd: "/usr" })];
  run.give(jobs, new Map([1, 2].map((id) => [id, env])));
  await end();
  expect(of("job-ended").map(({ outcome }) => outcome)).toEqual(Array(2).fill({ kind: "exited", code: 1 }));
  for (const id of [1, 2]) {
    expect(await output(`q.${id}`)).toBe(`${env.TEXT}\nq.${id}\n3\n/usr\n`);
    expect(await work.read(`job_results/q.${id}.err`)).toBe("");
  }
  expect(await work.read("job_results/.sshoal/queue.jsonl")).not.toContain("`d`");
});

test.each(["run-started", "job-reopened"] as const)(
  "a job that is over runs again in its next turn, also after a client that was killed right after %s",
  async (last) => {
    const job = (turn: number) => aJob(1, "echo ran >>$LOG; exit 3", { turn });
    const jobEnv = new Map([[1, { LOG: work.path("log") }]]);
    const before = await start(HERE);
    before.run.give([job(1)], jobEnv);
    await before.collected(1);
    await before.leave();
    let isKilled = false;
    const onEvent = ({ kind }: { kind: string }) => {
      isKilled ||= kind === last;
      if (isKilled) throw new Error("killed");
    };
    const killed = await start(HERE, { jobs: [job(2)], jobEnv, onEvent });
    await killed.leave();
    expect(isKilled).toBe(true);

    const next = await start(HERE, { jobs: [job(2)], jobEnv });
    await next.collected(1);
    await next.end();
    expect(next.of("job-skipped")).toEqual([]);
    expect(await work.read("log")).toBe("ran\nran\n");
  },
);
