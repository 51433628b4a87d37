// Acting on jobs of a queue: stop, retry, remove, and jobs that come after others.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { beforeEach, expect, test } from "vitest";
import { waitFor } from "../rig/batch.js";
import { commandOf } from "../rig/processes.js";
import { LITTLE, useQueueService } from "../rig/queue-service.js";
import { until } from "../rig/until.js";

const service = useQueueService();
beforeEach(() => service.lines(["serve"]));

test("stop ends a job with all of its processes, and a waiting job without starting it", async () => {
  await service.lines(["queue", "create", "one", "--max-jobs", "1"]);
  const tree = `sh -c 'echo $$ >> pids; ${waitFor("never").replaceAll("'", '"')}' & echo $$ >> pids; ${waitFor("never")}`;
  const running = await service.add("one", [], tree);
  const waiting = await service.add("one", [], "touch never-started");
  const pids = await until("both processes run", async () => {
    const lines = (await service.work.read("pids").catch(() => "")).trim().split("\n");
    return lines.length === 2 ? lines.map(Number) : null;
  });
  expect(await service.run(["stop", waiting])).toMatchObject({ code: 0 });
  expect(await service.run(["stop", running])).toMatchObject({ code: 0 });
  expect(pids.map(commandOf)).toEqual(["", ""]);
  expect(await service.job(running)).toMatchObject({
    state: "stopped",
    outcome: { kind: "stopped" },
    attempt: 1,
  });
  expect(await service.job(waiting)).toMatchObject({ state: "stopped", attempt: 0, startedAt: null });
  expect(existsSync(service.work.path("never-started"))).toBe(false);
});

test("retry runs a job again, and keeps its earlier output", async () => {
  const job = await service.add("default", [], "echo try >> tries; wc -l < tries; test -e fixed");
  expect(await service.run(["wait", job])).toMatchObject({ code: 1 });
  await service.work.write("fixed", "");
  const { results } = await service.job(job);
  expect(await readFile(`${results}.out`, "utf8")).toBe("1\n");
  expect(await service.run(["retry", job])).toMatchObject({ code: 0 });
  expect(await service.run(["wait", job])).toMatchObject({ code: 0 });
  expect(await service.job(job)).toMatchObject({ state: "succeeded", attempt: 2 });
  expect((await service.ask(`/v1/jobs/${job}/log`)).text).toBe("2\n");
  const { readdirSync } = await import("node:fs");
  const { dirname, join } = await import("node:path");
  const outputs = readdirSync(dirname(results)).filter((name) => name.includes(".out"));
  const texts = await Promise.all(outputs.map((name) => readFile(join(dirname(results), name), "utf8")));
  expect(texts.sort()).toEqual(["1\n", "2\n"]);
});

test("a failing job runs as often as --retries allows", async () => {
  const job = await service.add("default", ["--retries", "2"], "echo try >> tries; exit 6");
  expect(await service.run(["wait", job])).toMatchObject({ code: 1 });
  expect(await service.job(job)).toMatchObject({ state: "failed", attempt: 3, outcome: { code: 6 } });
  expect(await service.work.read("tries")).toBe("try\ntry\ntry\n");
});

test("remove deletes jobs that are over, and refuses others", async () => {
  const over = await service.add("default", ["--wait"], "true");
  const held = await service.add("default", ["--hold"], "true");
  expect(await service.run(["remove", over])).toMatchObject({ code: 0 });
  expect((await service.ask(`/v1/jobs/${over}`)).status).toBe(404);
  expect(await service.run(["stop", held])).toMatchObject({ code: 0 });
  expect(await service.run(["remove", "default", "--state", "stopped"])).toMatchObject({ code: 0 });
  expect(await service.jobs("default")).toEqual([]);
  expect(await service.add("default", ["--wait"], "true")).toBe("default/3");
});

test("jobs after others start, or are skipped with the reason, and so are jobs behind them", async () => {
  const fails = await service.add("default", ["--name", "fails"], `${waitFor("go")}; exit 1`);
  const after = ["--after", "--after-any", "--after-fail"];
  const jobs: string[] = [];
  for (const option of after)
    jobs.push(await service.add("default", [option, "fails"], `echo ${option} >> ran`));
  const behind = await service.add("default", ["--after", "2"], "echo behind >> ran");
  const behindAny = await service.add("default", ["--after-any", "2"], "echo behind-any >> ran");
  await until("it runs", async () => (await service.job(fails)).state === "running");
  expect((await service.json(`/v1/jobs/${jobs[0]}/why`)).holds.join()).toContain("job 1 has succeeded");
  await service.work.write("go", "");
  expect(await service.run(["wait", "default/1-6"])).toMatchObject({ code: 1 });
  const states = (await service.jobs("default")).map(({ state }) => state);
  expect(states).toEqual(["failed", "skipped", "succeeded", "succeeded", "skipped", "succeeded"]);
  expect((await service.work.read("ran")).trim().split("\n").sort()).toEqual([
    "--after-any",
    "--after-fail",
    "behind-any",
  ]);
  expect(await service.job(jobs[0] ?? "")).toMatchObject({ reason: "job 1 failed, and had to succeed" });
  expect(await service.job(behind)).toMatchObject({ reason: "job 2 was skipped, and had to succeed" });
  expect(await service.job(behindAny)).toMatchObject({ state: "succeeded" });
});

test("a retried job lets the jobs run that were skipped because of it", async () => {
  const first = await service.add("default", [], "test -e fixed");
  await service.run(["wait", first]);
  const refused = await service.run(["enqueue", ...LITTLE, "--after", "1", "--", "true"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("sshoal retry default/1") });
  const held = await service.add("default", ["--hold"], "test -e fixed");
  const id = held.split("/")[1] ?? "";
  const second = await service.add("default", ["--after", id], "echo second >> ran");
  const third = await service.add("default", ["--after", second.split("/")[1] ?? ""], "echo third >> ran");
  await service.lines(["release", held]);
  expect(await service.run(["wait", second, third])).toMatchObject({ code: 1 });
  await service.work.write("fixed", "");
  expect(await service.run(["retry", held])).toMatchObject({ code: 0 });
  expect(await service.run(["wait", held, second, third])).toMatchObject({ code: 0 });
  expect(await service.work.read("ran")).toBe("second\nthird\n");
});
