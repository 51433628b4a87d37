import { chmodSync, existsSync, mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dial } from "../../../src/socket/dialling.js";
import type { JsonChannel, Message } from "../../../src/socket/json-channel.js";
import { type Listening, listenIn } from "../../../src/socket/listening.js";
import { until } from "../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";

let work: Workspace;
let opened: Listening[] = [];
let channels: JsonChannel[] = [];

beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(async () => {
  await Promise.all(opened.map((each) => each.close()));
  [opened, channels] = [[], []];
  await work.remove();
});

async function listen(...dirs: string[]): Promise<Listening | null> {
  const listening = await listenIn(dirs, (channel) => channels.push(channel));
  if (listening !== null) opened.push(listening);
  return listening;
}

async function dialled(path: string): Promise<JsonChannel> {
  const channel = await dial(path);
  if (channel === null) throw new Error("nothing listens");
  return channel;
}

test("only one account can use the socket and its directory, and the socket is removed in the end", async () => {
  const listening = await listen(work.path("s"));
  const path = listening?.path ?? "";
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(work.path("s")).mode & 0o777).toBe(0o700);
  await listening?.close();
  expect(existsSync(path)).toBe(false);
});

test("a directory that others can enter, a link, a file and a long path are skipped", async () => {
  mkdirSync(work.path("open"));
  chmodSync(work.path("open"), 0o755);
  mkdirSync(work.path("own"), { mode: 0o700 });
  symlinkSync(work.path("own"), work.path("link"));
  writeFileSync(work.path("file"), "");
  const long = work.path("l".repeat(100));
  const unfit = [work.path("open"), work.path("link"), work.path("file"), long, work.path("no/such")];
  expect(await listen(...unfit)).toBeNull();
  expect((await listen(...unfit, work.path("own")))?.path).toContain(work.path("own"));
});

test("messages go both ways, whole, for any cut", async () => {
  const listening = await listen(work.path("s"));
  const socket = connect(listening?.path ?? "");
  await until("a client is there", () => channels.length === 1);
  const heard: Message[] = [];
  channels[0]?.listen((message) => heard.push(message));
  for (const piece of ['{"a', '":1}\n{"b":"ü', '"}\n']) {
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until("both came", () => heard.length === 2);
  expect(heard).toEqual([{ a: 1 }, { b: "ü" }]);
  const answers: Message[] = [];
  const other = await dialled(listening?.path ?? "");
  other.listen((message) => answers.push(message));
  await until("the other is there", () => channels.length === 2);
  channels[1]?.send({ kind: "hello" });
  await until("it was answered", () => answers.length === 1);
  socket.destroy();
  await other.end();
});

test("one message can describe every job of a large batch", async () => {
  const listening = await listen(work.path("s"));
  const asker = await dialled(listening?.path ?? "");
  const heard: Message[] = [];
  asker.listen((message) => heard.push(message));
  await until("the asker is there", () => channels.length === 1);
  const jobs = Array.from({ length: 200_000 }, (_, i) => ({ job: i, name: `jobs.sh.${i}`, end: "stopped" }));
  channels[0]?.send({ kind: "stopped", jobs });
  await Promise.race([asker.closed, until("it came", () => heard.length === 1)]);
  expect(heard[0]?.jobs).toHaveLength(200_000);
  await asker.end();
});

test.each([
  ["no JSON", "hello\n"],
  ["JSON, but no object", "[1]\n"],
  ["a line that does not end", "x".repeat(65 << 20)],
])("%s ends the channel, and nothing else", async (_, text) => {
  const listening = await listen(work.path("s"));
  const socket = connect(listening?.path ?? "").on("error", () => {});
  await until("a client is there", () => channels.length === 1);
  channels[0]?.listen(() => {});
  socket.write(text);
  await channels[0]?.closed;
  const next = await dialled(listening?.path ?? "");
  await until("the next is there", () => channels.length === 2);
  await next.end();
});

test("a reader that reads nothing is disconnected, and the sender does not wait", async () => {
  const listening = await listen(work.path("s"));
  const socket: Socket = connect(listening?.path ?? "").on("error", () => {});
  await until("a client is there", () => channels.length === 1);
  const line = `${"x".repeat(1 << 20)}\n`;
  for (let sent = 0; sent < 80; sent++) channels[0]?.sendLine(line);
  await channels[0]?.closed;
  socket.destroy();
});

test("the socket of a killed process is removed, one in use is not", async () => {
  const first = await listen(work.path("s"));
  const stale = join(work.path("s"), "4194999-abcdef.sock");
  const left = createServer().listen(stale);
  await until("it is there", () => existsSync(stale));
  writeFileSync(work.path("s/note"), "");
  // Closing normally would remove it.
  renameSync(stale, work.path("kept"));
  left.close();
  renameSync(work.path("kept"), stale);
  await listen(work.path("s"));
  expect(existsSync(stale)).toBe(false);
  expect(existsSync(first?.path ?? "")).toBe(true);
  expect(existsSync(work.path("s/note"))).toBe(true);
});

test("only a socket of this account is connected", async () => {
  expect(await dial(work.path("none"))).toBeNull();
  writeFileSync(work.path("file"), "");
  expect(await dial(work.path("file"))).toBeNull();
});

test("the socket of a starting process stays, although no process listens on it yet", async () => {
  await listen(work.path("s"));
  const starting = join(work.path("s"), `${process.pid}-abcdef.sock`);
  const left = createServer().listen(starting);
  await until("it is there", () => existsSync(starting));
  renameSync(starting, work.path("kept"));
  left.close();
  renameSync(work.path("kept"), starting);
  await listen(work.path("s"));
  expect(existsSync(starting)).toBe(true);
});
