// What a client does with answers of something that is no queue service, or of a hostile one.

import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { VERSION } from "../../../../src/model/version.js";
import { exchange } from "../../../../src/service/client/http-exchange.js";
import { sendTree } from "../../../../src/service/client/send-tree.js";
import { StrangeAnswer, textOf } from "../../../../src/service/client/service-answer.js";
import { connectService } from "../../../../src/service/client/service-client.js";
import { tcpDoor } from "../../../../src/service/client/tcp-door.js";

const HEALTH = JSON.stringify({ pid: 1, version: VERSION, startedAt: 1, seq: 1, database: "/x/y" });
const never = new AbortController().signal;
let server: Server | null = null;

afterEach(() => server?.close());

/** `reply`: writes the whole answer to a request for this path. */
async function listen(reply: (socket: Socket, path: string) => void): Promise<number> {
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (head) => {
      const path = head.toString("latin1").split(" ")[1] ?? "";
      if (path === "/v1/health") socket.end(whole(200, HEALTH));
      else reply(socket, path);
    });
  });
  const listening = server;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return (listening.address() as AddressInfo).port;
}

function whole(status: number, text: string): string {
  return `HTTP/1.1 ${status} X\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

async function client(reply: (socket: Socket, path: string) => void) {
  const port = await listen(reply);
  const connected = await connectService(tcpDoor({ host: "127.0.0.1", port }, "x".repeat(43)), 0);
  if (connected === null) throw new Error("nothing listens");
  return connected;
}

test.each([
  ["a page", 200, "<html>"],
  ["null", 200, "null"],
  ["a number", 200, "7"],
  ["a page of a proxy that failed", 502, "<html>bad gateway"],
  ["a refusal without a reason", 400, '{"error":null}'],
  ["a refusal whose reason is no text", 400, '{"error":{"message":{}}}'],
])("%s is an error for the user and no bug of sshoal", async (_, status, text) => {
  const asked = await client((socket) => socket.end(whole(status, text)));
  await expect(asked.get("/v1/state")).rejects.toThrow(StrangeAnswer);
});

test("a service that asks for a file that is not sent gets none", async () => {
  const text = JSON.stringify({ tree: "a", missing: ["f".repeat(64)] });
  const asked = await client((socket) => socket.end(whole(200, text)));
  await expect(sendTree(asked, import.meta.dirname, ["strange-answers.test.ts"])).rejects.toThrow(
    StrangeAnswer,
  );
});

test("a refusal never counts as success, whatever its exit code says", async () => {
  const text = JSON.stringify({ error: { message: "no", hint: null, exitCode: 0 } });
  const asked = await client((socket) => socket.end(whole(400, text)));
  await expect(asked.get("/v1/state")).rejects.toMatchObject({ message: "no", exitCode: 2 });
});

test("an event that is no JSON is an error for the user", async () => {
  const asked = await client((socket) => socket.end(whole(200, "data: {oops\n\n")));
  const events = asked.events(0, never)[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toThrow(StrangeAnswer);
});

/** Writes for as long as the other side reads. */
function flood(socket: Socket, begin: string, piece: string): void {
  socket.write(begin);
  const go = () => {
    while (socket.writable && socket.write(piece));
  };
  socket.on("drain", go);
  go();
}

async function exchangeWith(reply: (socket: Socket, path: string) => void) {
  const socket = connect(await listen(reply), "127.0.0.1");
  return exchange(socket, { method: "GET", path: "/v1/state", headers: {} });
}

const CHUNKED = "HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n";

test("an answer without end is given up when it is too long", async () => {
  const piece = `1000\r\n${" ".repeat(4096)}\r\n`;
  const answered = await exchangeWith((socket) => flood(socket, CHUNKED, piece));
  await expect(textOf(answered, 100_000)).rejects.toThrow("more than 100000 bytes");
});

test("an event without end is given up when it is too long", async () => {
  const piece = "x".repeat(1 << 20);
  const asked = await client((socket) => flood(socket, CHUNKED, `100000\r\n${piece}\r\n`));
  const events = asked.events(0, never)[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toThrow("an event has no end");
});

test("chunks of a negative length are no HTTP", async () => {
  const answered = await exchangeWith((socket) => flood(socket, CHUNKED, "-5\r\n\r\n"));
  await expect(textOf(answered)).rejects.toThrow("the answer is no HTTP");
});
