import { appendFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { beforeEach, expect, test } from "vitest";
import type { QueueJob } from "../../../src/model/queue.js";
import { until } from "../../rig/until.js";
import { anEvent, aQueueJob } from "./scripted-service.js";
import { useServed } from "./served.js";

const served = useServed();
const LOG = "/v1/jobs/default/1/log";

beforeEach(() => {
  served.service.logs = served.work.path("job");
  served.service.listed.push(aQueueJob({ state: "running" }));
});

function heardOn(answer: IncomingMessage): { text: string; isEnded: boolean } {
  const heard = { text: "", isEnded: false };
  answer.setEncoding("utf8").on("data", (chunk: string) => {
    heard.text += chunk;
  });
  answer.once("end", () => {
    heard.isEnded = true;
  });
  return heard;
}

function end(changes: Partial<QueueJob> = { isHere: true }): void {
  served.service.listed[0] = aQueueJob({
    state: "succeeded",
    outcome: { kind: "exited", code: 0 },
    ...changes,
  });
  served.service.emit(anEvent(1, { kind: "job-ended", job: 1 }));
}

test("a log begins at its offset, and says how long it is", async () => {
  writeFileSync(served.work.path("job.out"), "one\ntwo\n");
  writeFileSync(served.work.path("job.err"), "oh\n");
  const { text, headers } = await served.ask("GET", `${LOG}?stream=out&from=4`);
  expect([text, headers["sshoal-size"], headers["content-type"]]).toEqual([
    "two\n",
    "8",
    "text/plain; charset=utf-8",
  ]);
  expect((await served.ask("GET", LOG)).text).toBe("one\ntwo\n");
  expect((await served.ask("GET", `${LOG}?stream=err`)).text).toBe("oh\n");
  expect((await served.ask("GET", `${LOG}?from=99`)).text).toBe("");
});

test("a job without output has an empty log", async () => {
  const { status, text, headers } = await served.ask("GET", LOG);
  expect([status, text, headers["sshoal-size"]]).toEqual([200, "", "0"]);
});

test.each(["stream=both", "from=-1", "from=1.5", "follow=yes"])("%s is refused", async (query) => {
  expect((await served.ask("GET", `${LOG}?${query}`)).status).toBe(400);
});

test("a followed log grows with its file, and ends with the job", async () => {
  const heard = heardOn(await served.stream(`${LOG}?follow=1`));
  writeFileSync(served.work.path("job.out"), "one\n");
  await until("it came", () => heard.text === "one\n");
  appendFileSync(served.work.path("job.out"), "two\n");
  await until("more came", () => heard.text === "one\ntwo\n");
  expect(heard.isEnded).toBe(false);
  appendFileSync(served.work.path("job.out"), "three\n");
  end();
  await until("it ended", () => heard.isEnded);
  expect(heard.text).toBe("one\ntwo\nthree\n");
});

test("the log of a job that is over ends at once, although it is followed", async () => {
  writeFileSync(served.work.path("job.out"), "done\n");
  end();
  expect((await served.ask("GET", `${LOG}?follow=1`)).text).toBe("done\n");
});

test("a job that is run again has its new output followed from its beginning", async () => {
  writeFileSync(served.work.path("job.out"), "first try\n");
  const heard = heardOn(await served.stream(`${LOG}?follow=1`));
  await until("it came", () => heard.text === "first try\n");
  writeFileSync(served.work.path("job.out"), "2nd\n");
  await until("the new one came", () => heard.text === "first try\n2nd\n");
  end();
});

test("a large log arrives whole, with a reader that pauses", async () => {
  const bytes = Buffer.alloc(30 << 20, "0123456789abcdef\n");
  writeFileSync(served.work.path("job.out"), bytes);
  const before = process.memoryUsage().arrayBuffers;
  const answer = await served.stream(LOG);
  expect((await served.ask("GET", "/v1/health")).status).toBe(200);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 << 20);
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) length += chunk.length;
  expect(length).toBe(bytes.length);
});

test("a follower that leaves is forgotten", async () => {
  const before = served.service.listenerCount();
  const answer = await served.stream(`${LOG}?follow=1`);
  await until("it waits for news", () => served.service.listenerCount() > before);
  answer.destroy();
  await until("nothing waits", () => served.service.listenerCount() === before);
  expect(served.bugs).toEqual([]);
});

test("a followed log of a job that has ended goes on until all of its output is here", async () => {
  const heard = heardOn(await served.stream(`${LOG}?follow=1`));
  writeFileSync(served.work.path("job.out"), "one\n");
  end({ isHere: false });
  await until("it came", () => heard.text === "one\n");
  expect(heard.isEnded).toBe(false);
  appendFileSync(served.work.path("job.out"), "two\n");
  end();
  await until("it is over", () => heard.isEnded);
  expect(heard.text).toBe("one\ntwo\n");
});

test.each([
  ["was stopped before it began", { state: "stopped", outcome: null }],
  ["has results that cannot be collected", { reason: "its results cannot be collected" }],
] as const)("a followed log ends if the job %s", async (_, changes) => {
  const heard = heardOn(await served.stream(`${LOG}?follow=1`));
  end({ isHere: false, ...changes });
  await until("it is over", () => heard.isEnded);
});
