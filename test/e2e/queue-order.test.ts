// Which job of a queue starts next: order, priority, pause, hold. The jobs write files when they start.

import { beforeEach, expect, test } from "vitest";
import { listBelow, waitFor } from "../rig/batch.js";
import { LITTLE, useQueueService } from "../rig/queue-service.js";
import { until } from "../rig/until.js";

const service = useQueueService();
beforeEach(async () => {
  await service.lines(["serve"]);
  await service.lines(["queue", "create", "one", "--max-jobs", "1"]);
});

const started = async () => (await service.work.read("order").catch(() => "")).split("\n").filter(Boolean);
const noting = (word: string) => `echo ${word} >> order`;

/** A job that runs until `go` exists, so that those behind it wait. */
async function occupy(): Promise<void> {
  await service.add("one", [], `${noting("first")}; ${waitFor("go")}`);
  await until("it runs", async () => (await started()).includes("first"));
}

const go = () => service.work.write("go", "");

test("jobs of equal priority start in the order in which they were added", async () => {
  await occupy();
  const words = Array.from({ length: 30 }, (_, n) => `job-${n}`);
  await service.lines(["enqueue", "one", ...LITTLE, "-"], `${words.map(noting).join("\n")}\n`);
  await go();
  expect(await service.run(["wait", "one"])).toMatchObject({ code: 0 });
  expect(await started()).toEqual(["first", ...words]);
});

test("an urgent job behind 1,000 waiting ones starts next, and priority moves others", async () => {
  await occupy();
  const words = Array.from({ length: 1000 }, (_, n) => `job-${n}`);
  await service.lines(["enqueue", "one", ...LITTLE, "-"], `${words.map(noting).join("\n")}\n`);
  const late = await service.add("one", ["--priority", "-5"], noting("late"));
  const urgent = await service.add("one", ["--priority", "10"], noting("urgent"));
  expect(await service.json(`/v1/jobs/${urgent}/why`)).toMatchObject({ place: 1 });
  expect(await service.json(`/v1/jobs/${late}/why`)).toMatchObject({ place: 1002 });
  await service.lines(["priority", "20", "one/960"]);
  await service.lines(["stop", "one/20-950"]);
  await go();
  expect(await service.run(["wait", "one/2-19", late, urgent])).toMatchObject({ code: 0 });
  const order = await started();
  expect(order.slice(0, 4)).toEqual(["first", "job-958", "urgent", "job-0"]);
  expect(order.at(-1)).toBe("late");
  expect(order.length).toBe(1 + 1002 - 931);
});

test("pause acts before the next start, also of short jobs, and resume goes on in order", async () => {
  await occupy();
  const words = Array.from({ length: 40 }, (_, n) => `job-${n}`);
  const lines = words.map((word, n) => (n < 3 ? noting(word) : `${noting(word)}; test -e resumed`));
  await service.lines(["enqueue", "one", ...LITTLE, "-"], `${lines.join("\n")}\n`);
  await go();
  await until("some have run", async () => (await started()).length > 2);
  await service.lines(["queue", "pause", "one"]);
  const whenPaused = (await started()).length;
  const waiting = (await service.jobs("one")).filter(({ state }) => state === "waiting");
  for (const { reason } of waiting) expect(reason).toBe("the queue is paused");
  // Another queue goes on: it would start jobs of this one, too, if the pause were not kept.
  await service.add("default", ["--wait"], "true");
  expect((await started()).length).toBe(whenPaused);
  await service.work.write("resumed", "");
  await service.lines(["queue", "resume", "one"]);
  await service.run(["wait", "one"]);
  expect(await started()).toEqual(["first", ...words]);
});

test("pause --all keeps every queue from starting jobs, also after a restart of the service", async () => {
  await service.lines(["queue", "pause", "--all"]);
  await service.add("one", [], noting("one"));
  await service.add("default", [], noting("default"));
  await service.lines(["serve", "restart"]);
  const { queues } = await service.json("/v1/queues");
  expect(queues.map(({ isPaused }: { isPaused: boolean }) => isPaused)).toEqual([true, true]);
  await service.lines(["queue", "create", "third"]);
  await service.add("third", ["--wait"], "true");
  expect(await started()).toEqual([]);
  await service.lines(["queue", "resume", "--all"]);
  expect(await service.run(["wait", "one", "default"])).toMatchObject({ code: 0 });
  expect((await started()).sort()).toEqual(["default", "one"]);
});

test("a held job waits until it is released, and others pass it", async () => {
  await occupy();
  const held = await service.add("one", ["--hold"], noting("held"));
  const second = await service.add("one", [], noting("second"));
  const third = await service.add("one", [], noting("third"));
  await service.lines(["hold", second]);
  await go();
  expect(await service.run(["wait", third])).toMatchObject({ code: 0 });
  expect(await service.job(held)).toMatchObject({ state: "waiting", isHeld: true });
  expect(await service.job(second)).toMatchObject({ state: "waiting", isHeld: true });
  expect(await service.run(["hold", third])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("it is over"),
  });
  await service.lines(["release", held, second]);
  expect(await service.run(["wait", held, second])).toMatchObject({ code: 0 });
  expect(await started()).toEqual(["first", "third", "held", "second"]);
});

test("a queue with --max-jobs never runs more", async () => {
  await service.lines(["queue", "create", "three", "--max-jobs", "3"]);
  const line = `mkdir running.$$; ls -d running.* | wc -l >> counts; rmdir running.$$`;
  await service.lines(["enqueue", "three", ...LITTLE, "-"], `${Array(30).fill(line).join("\n")}\n`);
  expect(await service.run(["wait", "three"])).toMatchObject({ code: 0 });
  const counts = (await service.work.read("counts")).trim().split("\n").map(Number);
  expect(counts).toHaveLength(30);
  expect(Math.max(...counts)).toBeLessThanOrEqual(3);
  expect(listBelow(service.work.dir).filter((path) => path.startsWith("running"))).toEqual([]);
});
