import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { until } from "../../rig/until.js";
import { anEvent } from "./scripted-service.js";
import { useServed } from "./served.js";

const served = useServed();

/** Gathers what arrives. */
function heardOn(answer: IncomingMessage): { text: string; seqs(): number[]; isClosed: boolean } {
  const heard = {
    text: "",
    isClosed: false,
    seqs: () => [...heard.text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq)),
  };
  answer.setEncoding("utf8").on("data", (chunk: string) => {
    heard.text += chunk;
  });
  answer
    .on("error", () => {})
    .once("close", () => {
      heard.isClosed = true;
    });
  return heard;
}

test("an event has its number, its kind and itself, on one line each", async () => {
  const heard = heardOn(await served.stream("/v1/events?after=0"));
  const event = anEvent(1, { data: { command: "a\nb\u2028" } });
  served.service.emit(event);
  await until("it came", () => heard.text.endsWith("}\n\n"));
  expect(heard.text).toBe(`: sshoal\n\nid: 1\nevent: job-added\ndata: ${JSON.stringify(event)}\n\n`);
});

test("a reader gets what it missed, in pages, then what happens, each event once", async () => {
  for (let seq = 1; seq <= 2500; seq++) served.service.emit(anEvent(seq));
  const heard = heardOn(await served.stream("/v1/events?after=5"));
  for (let seq = 2501; seq <= 2600; seq++) served.service.emit(anEvent(seq));
  await until("the last came", () => heard.seqs().at(-1) === 2600);
  expect(heard.seqs()).toEqual(Array.from({ length: 2595 }, (_, index) => index + 6));
});

test("without a number a reader gets what happens from now on", async () => {
  served.service.emit(anEvent(1));
  const heard = heardOn(await served.stream("/v1/events"));
  served.service.emit(anEvent(2));
  await until("it came", () => heard.seqs().length > 0);
  expect(heard.seqs()).toEqual([2]);
});

test("Last-Event-ID takes precedence, as an EventSource sends it when it connects again", async () => {
  for (const seq of [1, 2, 3]) served.service.emit(anEvent(seq));
  const headers = { "last-event-id": "2" };
  const heard = heardOn(await served.stream("/v1/events?after=0", { headers }));
  await until("it came", () => heard.seqs().length > 0);
  expect(heard.seqs()).toEqual([3]);
});

test("events that are no longer kept, or that never were, have status 410", async () => {
  for (const seq of [8, 9]) served.service.emit(anEvent(seq));
  served.service.firstSeq = 8;
  const gone = await served.ask("GET", "/v1/events?after=3");
  expect([gone.status, gone.json.error.hint]).toEqual([410, expect.stringContaining("/v1/state")]);
  expect((await served.ask("GET", "/v1/events?after=10")).status).toBe(410);
  const heard = heardOn(await served.stream("/v1/events?after=7"));
  await until("both came", () => heard.seqs().length === 2);
});

test("a reader that reads nothing is disconnected, and the others hear everything", async () => {
  const slow = await served.stream("/v1/events?after=0");
  const heard = heardOn(await served.stream("/v1/events?after=0"));
  const data = { text: "x".repeat(1 << 20) };
  for (let seq = 1; seq <= 20; seq++) {
    served.service.emit(anEvent(seq, { data }));
    await until("the fast one has it", () => heard.seqs().at(-1) === seq && heard.text.endsWith("\n\n"));
  }
  const lost = new Promise((resolve) => slow.once("error", resolve));
  slow.resume();
  await lost;
  expect(heard.seqs()).toHaveLength(20);
  expect(heard.isClosed).toBe(false);
});

test("a reader that is slow while it catches up gets all of it", async () => {
  const data = { text: "x".repeat(10_000) };
  for (let seq = 1; seq <= 3000; seq++) served.service.emit(anEvent(seq, { data }));
  const answer = await served.stream("/v1/events?after=0");
  served.service.emit(anEvent(3001));
  const heard = heardOn(answer);
  await until("the last came", () => heard.text.includes("id: 3001\n"));
  expect(heard.seqs()).toHaveLength(3001);
});

test("one event is written as text once for all readers", async () => {
  const readers = await Promise.all(Array.from({ length: 20 }, () => served.stream("/v1/events?after=0")));
  const heard = readers.map(heardOn);
  await until("all are there", () => heard.every(({ text }) => text !== ""));
  let times = 0;
  const toJSON = () => ++times;
  served.service.emit(anEvent(1, { data: { toJSON } }));
  await until("all have it", () => heard.every(({ text }) => text.endsWith("}\n\n")));
  expect(times).toBe(1);
});

test("when the API ends, its readers end, and the service has no listeners", async () => {
  const heard = heardOn(await served.stream("/v1/events"));
  await served.close();
  await until("it ended", () => heard.isClosed);
  expect(served.service.listenerCount()).toBe(0);
});
