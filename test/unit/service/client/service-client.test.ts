import { chmodSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Health } from "../../../../src/api/queue-service.js";
import { UserError } from "../../../../src/errors.js";
import type { QueueEvent } from "../../../../src/model/queue-event.js";
import { ServiceError } from "../../../../src/service/client/service-answer.js";
import { connectService } from "../../../../src/service/client/service-client.js";
import { socketDoor } from "../../../../src/service/client/socket-door.js";
import { until } from "../../../rig/until.js";
import { anEvent, aQueueJob } from "../../api/scripted-service.js";
import { saveFile, useServed } from "../../api/served.js";

const served = useServed();
const ending = new AbortController();
const never = ending.signal;
let scripted: Server | null = null;

afterEach(() => scripted?.close());

/** Another program at the socket, which answers each connection with these bytes and then ends it. */
async function answerWith(...answers: string[]): Promise<void> {
  await served.close();
  scripted = createServer((socket) =>
    socket.on("error", () => {}).once("data", () => socket.end(answers.shift() ?? "")),
  );
  await new Promise<void>((resolve) => scripted?.listen(served.socket, resolve));
}

test("it asks several things, one after the other", async () => {
  const client = await served.client();
  expect(await client.get<Health>("/v1/health")).toEqual(served.service.health);
  expect(await client.post("/v1/pause")).toEqual({});
  const body = { queue: "default", cwd: "/", jobs: [{ command: "echo ü" }] };
  expect(await client.post("/v1/jobs", body)).toEqual({ queue: "default", ids: [1] });
  expect(await client.delete("/v1/queues/default?stop=1")).toEqual({});
  expect(served.service.asked.map(([name]) => name)).toEqual(["setPaused", "enqueue", "deleteQueue"]);
});

test("answers of megabytes arrive whole", async () => {
  served.service.listed.push(
    ...Array.from({ length: 5000 }, (_, at) => aQueueJob({ id: at + 1, command: "é".repeat(200) })),
  );
  const { jobs } = await (await served.client()).get<{ jobs: unknown[] }>("/v1/jobs");
  expect(jobs).toEqual(served.service.listed);
});

test("a refusal keeps its message, hint, exit code and status", async () => {
  served.service.failure = new UserError("no room", { hint: "make room", exitCode: 3 });
  const error = await (await served.client()).post("/v1/pause").catch((each: unknown) => each);
  expect(error).toBeInstanceOf(UserError);
  expect(error).toMatchObject({ message: "no room", hint: "make room", exitCode: 3, status: 400 });
});

test("no file, no socket and a stale socket are no service", async () => {
  await served.close();
  expect(await connectService(socketDoor(served.file))).toBeNull();
  writeFileSync(served.socket, "");
  expect(await connectService(socketDoor(served.file))).toBeNull();
  rmSync(served.file);
  expect(await connectService(socketDoor(served.file))).toBeNull();
});

test("a file that another account could write is refused", async () => {
  chmodSync(served.file, 0o644);
  await expect(connectService(socketDoor(served.file))).rejects.toThrow(/not a file of this account alone/);
  chmodSync(served.file, 0o600);
  renameSync(served.file, served.work.path("real"));
  symlinkSync(served.work.path("real"), served.file);
  await expect(connectService(socketDoor(served.file))).rejects.toThrow(UserError);
});

test("a file with other content is refused", async () => {
  writeFileSync(served.file, '{"pid": 1}');
  await expect(connectService(socketDoor(served.file))).rejects.toThrow(/does not describe a queue service/);
});

test("a service of another major version is named", async () => {
  saveFile(served, "7.0.1");
  await expect(connectService(socketDoor(served.file))).rejects.toThrow(
    /is sshoal 7\.0\.1, and this is 0\.0\.0-test/,
  );
  saveFile(served, "0.9.1");
  (await served.client()).close();
});

test("a service that ends before it answers is reported as gone", async () => {
  await answerWith("", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{", "SSH-2.0-x\r\n\r\n");
  const client = await served.client();
  const gone = /the queue service \(process \d+\) is gone/;
  await expect(client.get("/v1/health")).rejects.toThrow(gone);
  await expect(client.get("/v1/health")).rejects.toThrow(gone);
  await expect(client.get("/v1/health")).rejects.toThrow(gone);
  scripted?.close();
  await expect(client.get("/v1/health")).rejects.toThrow(gone);
});

test("events are heard over a restart of the service, each of them once", async () => {
  const heard: QueueEvent[] = [];
  const done = new AbortController();
  const client = await served.client();
  const hearing = (async () => {
    for await (const event of client.events(0, done.signal)) heard.push(event);
  })();
  const emit = (seq: number) => served.service.emit(anEvent(seq, { data: { text: "ü".repeat(70_000) } }));
  emit(1);
  await until("the first came", () => heard.length === 1);
  await served.close();
  emit(2);
  await served.open();
  emit(3);
  await until("all came", () => heard.length === 3);
  expect(heard).toEqual(served.service.events);
  done.abort();
  await hearing;
  await until("the service has no readers", () => served.service.listenerCount() === 1);
});

test("an event that a lost connection cut is asked for again", async () => {
  const [one, two] = [anEvent(1), anEvent(2)].map(
    (event) => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  const chunk = (text = "") => `${text.length.toString(16)}\r\n${text}\r\n`;
  await answerWith(head + chunk(one) + chunk(two?.slice(0, 20)), head + chunk(two));
  const heard: number[] = [];
  for await (const { seq } of (await served.client()).events(0, never)) if (heard.push(seq) === 2) break;
  expect(heard).toEqual([1, 2]);
});

test("events that are no longer kept are an error with status 410", async () => {
  served.service.emit(anEvent(9));
  served.service.firstSeq = 9;
  const events = (await served.client()).events(3, never)[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toSatisfy(
    (error) => error instanceof ServiceError && error.status === 410,
  );
});

test("a service that stays away is reported after a while", async () => {
  const client = await served.client(0);
  const events = client.events(0, never)[Symbol.asyncIterator]();
  const next = events.next();
  await until("it listens", () => served.service.listenerCount() === 1);
  await served.close();
  await expect(next).rejects.toThrow(/is gone/);
});

test("a followed log goes on at its offset after a restart of the service, and ends with its job", async () => {
  served.service.logs = served.work.path("job");
  served.service.listed.push(aQueueJob({ state: "running" }));
  writeFileSync(served.work.path("job.err"), "xxone\n");
  let text = "";
  const choice = { stream: "err", from: 2, follow: true } as const;
  const client = await served.client();
  const following = (async () => {
    for await (const piece of client.log("default", 1, choice, never)) text += piece;
  })();
  await until("it came", () => text === "one\n");
  await served.close();
  writeFileSync(served.work.path("job.err"), "two\n", { flag: "a" });
  await served.open();
  await until("more came", () => text === "one\ntwo\n");
  served.service.listed[0] = aQueueJob({ state: "failed" });
  served.service.emit(anEvent(1, { kind: "job-ended", job: 1 }));
  await following;
  expect(text).toBe("one\ntwo\n");
});

test("a reader of a log that has seen enough closes its connection", async () => {
  served.service.logs = served.work.path("job");
  served.service.listed.push(aQueueJob({ state: "running" }));
  writeFileSync(served.work.path("job.out"), "one\n");
  const choice = { stream: "out", from: 0, follow: true } as const;
  for await (const _ of (await served.client()).log("default", 1, choice, never)) break;
  await until("nothing follows", () => served.service.listenerCount() === 1);
});
