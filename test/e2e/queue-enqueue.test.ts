// Adding jobs to a queue: words, stdin, batch files, waiting, output, and the directory and variables of jobs.

import { mkdir } from "node:fs/promises";
import { beforeEach, expect, test } from "vitest";
import { waitFor } from "../rig/batch.js";
import { LITTLE, useQueueService } from "../rig/queue-service.js";

const service = useQueueService();
beforeEach(() => service.lines(["serve"]));

const enqueue = (...args: string[]) => service.run(["enqueue", ...LITTLE, ...args]);
const outOf = async (word: string) => (await service.ask(`/v1/jobs/${word}/log`)).text;

test("several words are a program and its arguments, one word is a line for the shell", async () => {
  const words = ["printf", "[%s]", "a b", "$HOME", "*", "", "it's", "; exit 9"];
  expect(await enqueue("--wait", "--", ...words)).toMatchObject({ code: 0 });
  expect(await outOf("default/1")).toBe("[a b][$HOME][*][][it's][; exit 9]");
  expect(await enqueue("--wait", "--", "cd / && pwd; exit 9")).toMatchObject({ code: 9 });
  expect(await outOf("default/2")).toBe("/\n");
});

test("--wait exits with the code of the job, and --tee prints its output", async () => {
  const { code, stdout, stderr } = await enqueue("--tee", "--", "echo out; echo err >&2; exit 3");
  expect(code).toBe(3);
  expect(stdout).toBe("default/1\nout\n");
  expect(stderr).toContain("err\n");
  expect(await enqueue("--wait", "--", "kill -9 $$")).toMatchObject({ code: 137 });
  const many = await service.run(["enqueue", ...LITTLE, "--wait", "default", "-"], {
    stdin: "true\nexit 5\n",
  });
  expect(many).toMatchObject({ code: 1 });
});

test("1,000 jobs from stdin are added at once, with ids in their order, and each runs once", async () => {
  await service.lines(["queue", "create", "many", "--max-jobs", "4"]);
  const lines = Array.from({ length: 1000 }, (_, n) => `echo ${n} >> done.txt`).join("\n");
  const names = await service.lines(["enqueue", "many", ...LITTLE, "-"], `${lines}\n`);
  expect(names).toEqual(Array.from({ length: 1000 }, (_, n) => `many/${n + 1}`));
  const jobs = await service.jobs("many");
  expect(jobs.map(({ command }) => command)).toEqual(lines.split("\n"));
  // Most of them are removed, so that the test stays short.
  await service.lines(["stop", "many/101-1000"]);
  expect(await service.run(["wait", "many/1-100"])).toMatchObject({ code: 0 });
  const done = (await service.work.read("done.txt")).trim().split("\n").map(Number);
  expect(done.length).toBe(new Set(done).size);
  expect(done).toEqual(expect.arrayContaining(Array.from({ length: 100 }, (_, n) => n)));
});

test("the #@ lines of a batch file name jobs, order them, and limit their time", async () => {
  await service.work.write(
    "jobs.sh",
    [
      "#@ --num-cpus 0.01",
      "#@ --name prepare",
      "echo prepare >> order",
      "#@ --after prepare --timeout 1s",
      `echo slow >> order; ${waitFor("never")}`,
      "#@ --after prepare",
      "echo quick >> order",
      "",
    ].join("\n"),
  );
  expect(await service.lines(["enqueue", "jobs.sh"])).toEqual(["default/1", "default/2", "default/3"]);
  expect(await service.run(["wait", "default/1-3"])).toMatchObject({ code: 1 });
  const [prepare, slow, quick] = await service.jobs("default");
  expect(prepare).toMatchObject({ name: "prepare", state: "succeeded" });
  expect(slow).toMatchObject({
    state: "failed",
    outcome: { kind: "timed-out" },
    after: [{ job: 1, when: "succeeded" }],
  });
  expect(quick).toMatchObject({ state: "succeeded", after: [{ job: 1, when: "succeeded" }] });
  expect((await service.work.read("order")).split("\n")[0]).toBe("prepare");
});

test("--out gets stdout and stderr in exact order, and is refused if it exists", async () => {
  const line = "for n in 1 2 3 4 5; do echo out $n; echo err $n >&2; done";
  expect(await enqueue("--wait", "--out", "all.txt", "--", line)).toMatchObject({ code: 0 });
  const expected = [1, 2, 3, 4, 5].map((n) => `out ${n}\nerr ${n}\n`).join("");
  expect(await service.work.read("all.txt")).toBe(expected);
  const again = await enqueue("--out", "all.txt", "--", "echo again");
  expect(again).toMatchObject({ code: 2, stdout: "" });
  expect(again.stderr).toContain("all.txt: the file exists already");
  expect(await service.work.read("all.txt")).toBe(expected);
  expect(await service.jobs("default")).toHaveLength(1);
});

test("a job runs in --cwd, that of its queue, or where it was enqueued", async () => {
  await Promise.all(["one", "two"].map((dir) => mkdir(service.work.path(dir))));
  await service.lines(["queue", "create", "there", "--cwd", service.work.path("two")]);
  await enqueue("--wait", "--", "pwd");
  await enqueue("--wait", "--cwd", "one", "--", "pwd");
  await enqueue("there", "--wait", "--", "pwd");
  expect([await outOf("default/1"), await outOf("default/2"), await outOf("there/1")]).toEqual(
    ["", "/one", "/two"].map((path) => `${service.work.dir}${path}\n`),
  );
});

test("a frozen job runs in a copy of the directory as it was, and its results come back", async () => {
  await service.work.write("input", "before\n");
  await service.lines(["queue", "pause", "default"]);
  await service.lines([
    "enqueue",
    ...LITTLE,
    "--freeze",
    "--name",
    "frozen",
    "--",
    "cat input; echo new > made",
  ]);
  await service.work.write("input", "after\n");
  await service.lines(["queue", "resume", "default"]);
  expect(await service.run(["wait", "default/frozen"])).toMatchObject({ code: 0 });
  expect(await outOf("default/1")).toBe("before\n");
  const { results } = await service.job("default/1");
  expect(results.endsWith("/results/default/frozen/1")).toBe(true);
  const { readFile } = await import("node:fs/promises");
  expect(await readFile(`${results}/made`, "utf8")).toBe("new\n");
  await expect(service.work.read("made")).rejects.toThrow("ENOENT");
});

test("--results-here puts results into job_results of the directory, and a prefix begins each command", async () => {
  await service.lines(["queue", "create", "py", "--", "printf", "<%s>"]);
  expect(
    await service.run(["enqueue", "py", ...LITTLE, "--wait", "--results-here", "--", "a b", "c"]),
  ).toMatchObject({
    code: 0,
  });
  expect(await service.work.read("job_results/py.1.out")).toBe("<a b><c>");
});
