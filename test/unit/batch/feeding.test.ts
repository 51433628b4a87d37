import { spawnSync } from "node:child_process";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { feedRun } from "../../../src/batch/feeding.js";
import { linesOf } from "../../../src/input/feed/line-source.js";
import type { FeedPosition } from "../../../src/model/batch.js";
import type { News } from "../../../src/model/event.js";
import { initialState } from "../../../src/plan/fold/initial-state.js";
import type { BatchRun } from "../../../src/run/batch-run.js";
import type { Arrival } from "../../../src/run/feed.js";
import { until } from "../../rig/until.js";

/** Takes the jobs; none begins before `begin` is called. */
function aTaker(position: FeedPosition | null = null) {
  const told: News[] = [];
  const arrivals: Arrival[] = [];
  let begun = 0;
  const policy = { retries: 0, retriesFailures: false, reassignAfterMs: null };
  const run: BatchRun = {
    state: initialState({ jobs: [], machines: [], policy }),
    finish: () => Promise.reject(new Error("not in this test")),
    abandon() {},
    position,
    emit: (news) => void told.push(news),
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
  await feedRun(run, streamOf("\ufeffone\r\n# no job\n\nfor i in 1; do\n  two\ndone\nlast"), "stdin");
  expect(arrivals).toEqual([
    { line: 1, command: "one" },
    { line: 4, command: "for i in 1; do\n  two\ndone" },
    { line: 7, command: "last" },
  ]);
  expect(told).toEqual([{ kind: "jobs-complete" }]);
});

test("line numbers continue from where an earlier reader stopped", async () => {
  const { run, arrivals } = aTaker({ file: "1:2", offset: 9, lines: 5, digest: "" });
  await feedRun(run, streamOf("one\ntwo\n"), "queue");
  expect(arrivals.map(({ line }) => line)).toEqual([6, 7]);
});

test("a line that bash refuses is reported, and the others still run", async () => {
  const { run, told, arrivals } = aTaker();
  await feedRun(run, streamOf("fi\necho fine\n"), "stdin");
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
    await feedRun(run, streamOf(`true\n${text}`), "stdin");
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
  const fed = feedRun(run, linesOf(broken), "stdin");
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
  await expect(feedRun(broken, streamOf("true\n"), "stdin")).rejects.toThrow("a bug");
  expect(told).toEqual([]);
});

test("if more jobs wait than can begin soon, the rest is not read yet", async () => {
  const { run, arrivals, begin } = aTaker();
  const lines = 50_000;
  const fed = feedRun(run, streamOf("echo a job\n".repeat(lines)), "stdin");
  await until("as many have come as may wait", () => arrivals.length > 20_000);
  expect(arrivals.length).toBeLessThan(21_000);
  begin(10_000);
  await until("as many more", () => arrivals.length > 30_000);
  expect(arrivals.length).toBeLessThan(31_000);
  begin(lines);
  await fed;
  expect(arrivals).toHaveLength(lines);
});
