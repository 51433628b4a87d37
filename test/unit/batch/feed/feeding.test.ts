import { spawnSync } from "node:child_process";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { feedRun } from "../../../../src/batch/feed/feeding.js";
import { arrivingOptions } from "../../../../src/cli/options/arriving-options.js";
import { parseOptions } from "../../../../src/cli/options/options.js";
import { UserError } from "../../../../src/errors.js";
import { readTopOptions } from "../../../../src/input/feed/leading-options.js";
import { linesOf } from "../../../../src/input/feed/line-source.js";
import type { FeedPosition } from "../../../../src/model/batch.js";
import type { News } from "../../../../src/model/event.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";
import type { BatchRun } from "../../../../src/run/batch-run.js";
import type { Arrival } from "../../../../src/run/feed.js";
import { until } from "../../../rig/until.js";
import { makeWorkspace } from "../../../rig/workspace.js";

/** Takes the jobs; none begins before `begin` is called. */
function aTaker(position: FeedPosition | null = null) {
  const told: News[] = [];
  const arrivals: Arrival[] = [];
  let begun = 0;
  const policy = { retries: 0, retriesFailures: false, reassignAfterMs: null };
  const run: BatchRun = {
    batch: "jobs",
    state: initialState({ jobs: [], machines: [], policy }),
    finish: () => Promise.reject(new Error("not in this test")),
    abandon() {},
    position,
    emit: (news) => void told.push(news),
    readTree: async ({ copyForward }) => {
      if (copyForward?.includes("secret")) throw new UserError("secret cannot be read");
    },
    give() {},
    add: (some) => void arrivals.push(...some),
    countUnbegun: () => arrivals.length - begun,
    recordBytes: 0,
    reopen() {},
    setDraining: () => Promise.resolve(),
  };
  const begin = (count: number) => {
    begun += count;
  };
  return { run, told, arrivals, begin };
}

const streamOf = (text: string) => linesOf(Readable.from([Buffer.from(text)]));

test("commands are numbered by their first lines, and the end is reported", async () => {
  const { run, told, arrivals } = aTaker();
  await feedRun(run, streamOf("\ufeffone\r\n# no job\n\nfor i in 1; do\n  two\ndone\nlast"), {
    name: "stdin",
    read: null,
  });
  expect(arrivals).toEqual([
    { line: 1, command: "one" },
    { line: 4, command: "for i in 1; do\n  two\ndone" },
    { line: 7, command: "last" },
  ]);
  expect(told).toEqual([{ kind: "jobs-complete" }]);
});

test("line numbers continue from where an earlier reader stopped", async () => {
  const { run, arrivals } = aTaker({ file: "1:2", offset: 9, lines: 5, digest: "" });
  await feedRun(run, streamOf("one\ntwo\n"), { name: "queue", read: null });
  expect(arrivals.map(({ line }) => line)).toEqual([6, 7]);
});

test("a line that bash refuses is reported, and the others still run", async () => {
  const { run, told, arrivals } = aTaker();
  await feedRun(run, streamOf("fi\necho fine\n"), { name: "stdin", read: null });
  expect(arrivals.map(({ command }) => command)).toEqual(["fi", "echo fine"]);
  expect(told[0]).toMatchObject({
    kind: "warning",
    message: expect.stringMatching(/^stdin:1: .*will fail$/),
  });
});

test.each(["cat <<END\nhalf", "echo half \\", "echo 'half", "for i in 1; do\n  half", "{ half", "half &&"])(
  "%j at the end is incomplete, and the job that runs in its place fails",
  async (text) => {
    const { run, told, arrivals } = aTaker();
    await feedRun(run, streamOf(`true\n${text}`), { name: "stdin", read: null });
    expect(told[0]).toMatchObject({ kind: "warning", message: expect.stringContaining("will fail") });
    const { status, stdout } = spawnSync("bash", ["-c", arrivals[1]?.command ?? ""], { encoding: "utf8" });
    expect(status).not.toBe(0);
    expect(stdout).toBe("");
  },
);

test("a source that breaks off counts as ended", async () => {
  const { run, told, arrivals } = aTaker();
  const broken = new Readable({ read() {} });
  broken.push("one\ntwo without an end");
  const fed = feedRun(run, linesOf(broken), { name: "stdin", read: null });
  await until("the first has come", () => arrivals.length === 1);
  broken.destroy(new Error("EIO"));
  await fed;
  const message = "stdin can no longer be read: EIO; no more jobs will arrive";
  expect(told).toEqual([{ kind: "warning", message }, { kind: "jobs-complete" }]);
});

test("an error of the run is not reported as an error of the source", async () => {
  const { run, told } = aTaker();
  const broken = {
    ...run,
    add: () => {
      throw new Error("a bug");
    },
  };
  await expect(feedRun(broken, streamOf("true\n"), { name: "stdin", read: null })).rejects.toThrow("a bug");
  expect(told).toEqual([]);
});

test("if more jobs wait than can begin soon, the rest is not read yet", async () => {
  const { run, arrivals, begin } = aTaker();
  const lines = 50_000;
  const fed = feedRun(run, streamOf("echo a job\n".repeat(lines)), { name: "stdin", read: null });
  await until("as many have come as may wait", () => arrivals.length > 20_000);
  expect(arrivals.length).toBeLessThan(21_000);
  begin(10_000);
  await until("as many more", () => arrivals.length > 30_000);
  expect(arrivals.length).toBeLessThan(31_000);
  begin(lines);
  await fed;
  expect(arrivals).toHaveLength(lines);
});

describe("#@ lines", () => {
  const invocation = parseOptions({
    program: "execute_batch",
    argv: ["-", "--num-cpus", "2", "--env", "A=typed"],
    env: {},
  });
  if (invocation.command !== "run") throw new Error("it is no run");
  const read = arrivingOptions({
    name: "stdin",
    revise: invocation.revise,
    env: {},
    workingDir: fileURLToPath(new URL("../../../..", import.meta.url)),
  });

  async function feed(text: string, position: FeedPosition | null = null) {
    const taker = aTaker(position);
    await feedRun(taker.run, streamOf(text), { name: "stdin", read });
    return taker;
  }

  test("right above a job apply to it alone", async () => {
    const { arrivals, told } = await feed(
      "one\n#@ --require '{licence: 1}' --timeout 5s\n#@ --env B=2\ntwo\nthree\n",
    );
    expect(arrivals).toMatchObject([
      { command: "one" },
      {
        command: "two",
        own: {
          job: {
            requirement: { cpus: 2, resources: { licence: [1] } },
            timeoutSeconds: 5,
            envNames: ["A", "B"],
          },
          env: { A: "typed", B: "2" },
        },
      },
      { command: "three" },
    ]);
    expect(arrivals.map(({ own }) => own === undefined)).toEqual([true, false, true]);
    expect(told).toEqual([{ kind: "jobs-complete" }]);
  });

  test("before the first job apply to all, below the command line and above nothing else", async () => {
    const { arrivals } = await feed(
      "#@ --num-cpus 9 --memory-required 5\n\none\n#@ --memory-required 7 --num-cpus 3\ntwo\n",
    );
    expect(arrivals.map(({ own }) => own?.job.requirement)).toMatchObject([
      { cpus: 2, memoryMb: 5 },
      { cpus: 3, memoryMb: 7 },
    ]);
  });

  test("with a mistake leave their job out, with its place and what to type", async () => {
    const { arrivals, told } = await feed(
      "one\n#@ --gpus-per-job none --machines a\ntwo\n#@ --merge\nthree\nfour\n",
    );
    expect(arrivals.map(({ command }) => command)).toEqual(["one", "four"]);
    const texts = told.map((news) => (news.kind === "warning" ? news.message : news.kind));
    expect(texts).toEqual([
      expect.stringMatching(/^stdin:2: --gpus-per-job takes a number .*; the job in line 3 is left out$/),
      "job-refused",
      expect.stringMatching(
        /^stdin:4: --merge cannot be set here \(for one job .*; the job in line 5 is left out$/,
      ),
      "job-refused",
      "jobs-complete",
    ]);
  });

  test("a name, paths and a kept directory", async () => {
    const { arrivals, told } = await feed(
      "#@ --name prepare --copy-forward docs src\none\n#@ --copy-forward src docs --copy-backwards out --keep-dir\ntwo\n",
    );
    expect(arrivals.map(({ own }) => own)).toEqual([
      { job: { label: "prepare", copyForward: ["docs", "src"] }, namedAt: "stdin:1" },
      { job: { copyForward: ["docs", "src"], copyBack: ["out"], keepsDir: true } },
    ]);
    expect(told).toEqual([{ kind: "jobs-complete" }]);
  });

  test.each([
    ["--name 7", "stdin:2: the name 7: a number means a line"],
    ["--copy-forward nowhere", "stdin:2: --copy-forward nowhere: there is no such file or directory"],
    ["--copy-backwards out", "stdin:2: --copy-backwards has no effect if jobs run in place"],
  ])("%s is refused, with its place", async (option, mistake) => {
    const { arrivals, told } = await feed(`one\n#@ ${option}\ntwo\n`);
    expect(arrivals).toHaveLength(1);
    expect(told[0]).toMatchObject({ message: expect.stringContaining(mistake) });
    expect(told[1]).toMatchObject({ kind: "job-refused", line: 3 });
  });

  test("files that cannot be read leave their job out", async () => {
    const { run, told, arrivals } = aTaker();
    const job = { copyForward: ["secret"] };
    await feedRun(run, streamOf("#@ x\none\ntwo\n"), {
      name: "queue",
      read: ({ line }) => (line === 2 ? { job } : { job: {} }),
    });
    expect(arrivals.map(({ command }) => command)).toEqual(["two"]);
    expect(told).toMatchObject([
      { message: "queue:2: --copy-forward: secret cannot be read; the job in line 2 is left out" },
      { kind: "job-refused", line: 2 },
      { kind: "jobs-complete" },
    ]);
  });

  test("without a job below are reported, once a job has come", async () => {
    const { arrivals, told } = await feed("one\n#@ --timeout 5s\n\ntwo\n");
    expect(arrivals.map(({ own }) => own)).toEqual([undefined, undefined]);
    expect(told[0]).toEqual({
      kind: "warning",
      message: "stdin:2: there is no job right below these options, so they are ignored",
    });
  });

  test("have the lines of the whole file where an earlier reader stopped", async () => {
    const { told } = await feed("#@ --what\none\n", { file: "1:2", offset: 9, lines: 5, digest: "" });
    expect(told[1]).toMatchObject({
      kind: "job-refused",
      line: 7,
      reason: expect.stringContaining("stdin:6:"),
    });
  });
});

test("the options at the top of a growing file are found again", async () => {
  const text = "#@ --timeout 5s\n# about\n#@ --num-cpus 2\n\n#@ --env A=1\none\n\n#@ --env B=1\n\ntwo\n";
  const workspace = await makeWorkspace({ q: text });
  expect(await readTopOptions(workspace.path("q"))).toEqual([
    { line: 1, text: " --timeout 5s" },
    { line: 3, text: " --num-cpus 2" },
  ]);
  expect(await readTopOptions(workspace.path("none"))).toEqual([]);
  await workspace.remove();
});
