// `sshoal results` for jobs of a queue: parameters, metrics from their output, and the order of rows.

import { beforeEach, expect, test } from "vitest";
import { parseEvents } from "../rig/batch.js";
import { LITTLE, useQueueService } from "../rig/queue-service.js";

const service = useQueueService();
beforeEach(() => service.lines(["serve"]));

test("a sweep in a queue has a row per job, sorted by a metric, as a table, CSV and JSON", async () => {
  await service.lines(["queue", "create", "train"]);
  const sweep = [
    "sweep",
    "echo sshoal: acc=0.{x}",
    "-p",
    "x",
    "3",
    "9",
    "5",
    "--enqueue",
    "train",
    ...LITTLE,
  ];
  await service.lines(sweep);
  await service.add("train", ["--name", "bad"], "echo oops; exit 4");
  await service.run(["wait", "train"]);
  const sorted = await service.lines(["results", "train/", "--sort", "-acc", "--json"]);
  const rows = parseEvents(sorted.join("\n"));
  expect(rows.map(({ name }) => name)).toEqual(["train/2", "train/3", "train/1", "train/4"]);
  expect(rows[0]).toMatchObject({
    v: 2,
    kind: "job-result",
    batch: "train",
    state: "succeeded",
    parameters: { x: "9" },
    metrics: { acc: 0.9 },
    machine: "localhost",
    slot: null,
    attempt: 1,
  });
  expect(rows[3]).toMatchObject({ state: "failed", failure: "exit", metrics: {} });
  const [head, first] = await service.lines(["results", "train/1-3", "--csv", "--sort", "acc"]);
  expect(head).toMatch(/^job,state,.*x,acc,/);
  expect(first).toMatch(/^1,succeeded,.*3,0\.3,/);
  expect((await service.lines(["results", "train"])).join("\n")).toMatch(/bad +failed/);
});

test("a queue or job that is not there is an error, and a batch here is still found without a word", async () => {
  expect(await service.run(["results", "nosuch/"])).toMatchObject({ code: 2, stdout: "" });
  expect((await service.run(["results", "default/9"])).stderr).toContain("there is no job default/9");
  await service.work.write("jobs.sh", "echo sshoal: acc=1\n");
  await service.run(["run", "jobs.sh", "--no-gpu-required", ...LITTLE, "--memory-required", "10"]);
  expect(parseEvents((await service.lines(["results", "--json"])).join("\n"))).toMatchObject([
    { name: "jobs.sh.1", metrics: { acc: 1 } },
  ]);
});
