// The service is killed with jobs that run and jobs that wait: none is lost, none runs twice, and exit codes are true.

import { beforeEach, expect, test } from "vitest";
import { listBelow, waitFor } from "../rig/batch.js";
import { LITTLE, useQueueService } from "../rig/queue-service.js";
import { until } from "../rig/until.js";

const service = useQueueService();
beforeEach(async () => {
  await service.lines(["serve"]);
  await service.lines(["queue", "create", "three", "--max-jobs", "3"]);
});

const COUNT = 33;
/** Each notes its start once, waits until it may end, and exits with its own code. */
const command = (n: number) => `echo ${n} >> started; ${waitFor("go")}; exit $((${n} % 4))`;
const stdin = () => Array.from({ length: COUNT }, (_, n) => `${command(n + 1)}\n`).join("");
const started = async () => (await service.work.read("started").catch(() => "")).split("\n").filter(Boolean);
/** Jobs that the machine has, begun or not. */
const handedOver = () =>
  listBelow(service.home.dir).filter((path) => /\.sshoal\/batches\/[^/]+\/jobs\/[^/]+\/command$/.test(path));
const go = () => service.work.write("go", "");

async function expectAllTrue(): Promise<void> {
  await service.run(["wait", "three"]);
  const jobs = await service.jobs("three");
  expect(jobs.map(({ id, state, outcome, attempt }) => [id, state, outcome?.code, attempt])).toEqual(
    Array.from({ length: COUNT }, (_, n) => {
      const code = (n + 1) % 4;
      return [n + 1, code === 0 ? "succeeded" : "failed", code, 1];
    }),
  );
  expect((await started()).map(Number).sort((a, b) => a - b)).toEqual(jobs.map(({ id }) => id));
}

test("killed right after enqueue printed the names", async () => {
  const names = await service.lines(["enqueue", "three", ...LITTLE, "-"], stdin());
  await service.kill();
  expect(names).toHaveLength(COUNT);
  await service.lines(["serve"]);
  expect(await service.jobs("three")).toHaveLength(COUNT);
  await go();
  await expectAllTrue();
});

test("killed while three run, which end before the next service", async () => {
  await service.lines(["enqueue", "three", ...LITTLE, "-"], stdin());
  await until("three run", async () => (await started()).length === 3);
  await until("the machine has one more", () => handedOver().length > 3);
  await service.kill();
  await go();
  await until("a slot goes on without a service", async () => (await started()).length > 3);
  await service.lines(["serve"]);
  await expectAllTrue();
});

test("killed again and again while results are collected and jobs are added", async () => {
  await go();
  const lines = stdin().split("\n");
  for (let from = 0; from < COUNT; from += 11) {
    await service.lines(["enqueue", "three", ...LITTLE, "-"], `${lines.slice(from, from + 11).join("\n")}\n`);
    await until("more have begun", async () => (await started()).length > from);
    await service.kill();
    await service.lines(["serve"]);
  }
  await expectAllTrue();
});

test("a service that is restarted under load goes on with every job", async () => {
  await service.lines(["enqueue", "three", ...LITTLE, "-"], stdin());
  await until("three run", async () => (await started()).length === 3);
  await service.lines(["serve", "restart"]);
  await until("the new service knows of all three", async () => {
    const jobs = await service.jobs("three");
    return jobs.filter(({ state }) => state === "running").length === 3;
  });
  await go();
  await service.lines(["serve", "restart"]);
  await expectAllTrue();
});
