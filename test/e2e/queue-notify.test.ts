// The commands of --notify of the queue service: for jobs, and for queues that have become empty.

import { beforeEach, expect, test } from "vitest";
import { useQueueService } from "../rig/queue-service.js";
import { until } from "../rig/until.js";

const service = useQueueService();
beforeEach(() => service.lines(["serve"]));

/** Each command writes one line. */
const noting = (words: string) => ["--notify", `echo "${words}" >> '${service.work.path("notes")}'`];
const SUMMARY = "$SSHOAL_EVENT: $SSHOAL_SUMMARY";

const untilNoted = (count: number) =>
  until(`${count} notifications`, async () => {
    const lines = (await service.work.read("notes").catch(() => "")).split("\n").filter(Boolean);
    return lines.length === count ? lines.sort() : null;
  });

test("a job that ended, one that failed and one that is skipped because of it are reported, each once", async () => {
  await service.add("default", [...noting(SUMMARY), "--name", "good"], "true");
  await service.lines(["queue", "pause", "default"]);
  await service.add("default", [...noting(`${SUMMARY} $SSHOAL_OUTCOME`), "--name", "bad"], "exit 3");
  await service.add("default", [...noting(SUMMARY), "--after", "bad"], "true");
  await service.lines(["queue", "resume", "default"]);
  expect(await untilNoted(3)).toEqual([
    "ended: default/1 good succeeded",
    "ended: default/2 bad failed exit code 3",
    "ended: default/3 skipped",
  ]);
});

test("a queue that has become empty is reported, also if its last jobs were stopped while they waited", async () => {
  await service.lines(["queue", "create", "train", ...noting("$SSHOAL_EVENT $SSHOAL_QUEUE $SSHOAL_JOB")]);
  await service.add("train", ["--hold"], "true");
  await service.add("train", ["--wait"], "true");
  expect(await untilNoted(1)).toEqual(["empty train train/2"]);
  await service.lines(["queue", "pause", "train"]);
  const { seq } = await service.json("/v1/health");
  await service.add("train", noting(SUMMARY), "true");
  await service.add("train", [], "true");
  await service.lines(["stop", "train/3-4"]);
  expect(await untilNoted(3)).toEqual([
    "empty train train/2",
    "empty train train/4",
    "ended: train/3 stopped",
  ]);
  const events = await service.ask(`/v1/events?after=${seq}`, {
    isEnough: (text) => text.includes("queue-empty"),
  });
  expect(events.text.split("queue-empty").length).toBe(3);
});

test("a command that fails is a warning", async () => {
  await service.add("default", ["--notify", "exit 9", "--wait"], "true");
  const { text } = await service.ask("/v1/events?after=0", { isEnough: (all) => all.includes("warning") });
  expect(text).toContain("the command of --notify failed for default/1: exit code 9");
});
