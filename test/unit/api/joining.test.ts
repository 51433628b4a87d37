import { connect } from "node:net";
import { expect, test } from "vitest";
import { useServed } from "./served.js";

const served = useServed();
const QUERY = `machine=box&queues=default,eval&process=${"p".repeat(32)}&version=1.2.3`;
const KEY = Buffer.from("a public key of ssh").toString("base64url");

/** All that comes back for these lines, until the end of the connection. */
async function talk(path: string, lines: readonly string[], method = "POST"): Promise<string> {
  const socket = connect(served.socket);
  socket.write([`${method} ${path} HTTP/1.1`, "host: localhost", ...lines, "", ""].join("\r\n"));
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

const UPGRADE = ["connection: upgrade", "upgrade: sshoal-join", "content-length: 0"];

test("a machine that joins gets a key, and its connection becomes a stream", async () => {
  const capacity = encodeURIComponent(JSON.stringify({ licence: { "0": 1 } }));
  const text = await talk(`/v1/join?${QUERY}&key=${KEY}&capacity=${capacity}`, UPGRADE);
  const [head = "", rest] = text.split("\r\n\r\n");
  expect(head.split("\r\n")).toEqual([
    "HTTP/1.1 101 Switching Protocols",
    "connection: upgrade",
    "upgrade: sshoal-join",
    `sshoal-key: ${Buffer.from("a key").toString("base64")}`,
  ]);
  expect(rest).toBe("hello");
  expect(served.service.asked).toEqual([
    [
      "join",
      {
        name: "box",
        queues: ["default", "eval"],
        process: "p".repeat(32),
        hostKey: Buffer.from("a public key of ssh"),
        version: "1.2.3",
        capacity: { licence: { "0": 1 } },
      },
    ],
  ]);
});

test("every mistake in a request to join is reported, and nothing is asked of the service", async () => {
  const text = await talk("/v1/join?machine=a%20b&queues=1&process=x&key=&version=new&capacity=%7B", UPGRADE);
  const [head = "", body = ""] = text.split("\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  for (const name of ["machine", "queues", "process", "key", "version", "capacity"])
    expect(JSON.parse(body).error.message).toMatch(new RegExp(`^${name}: `, "m"));
  expect(served.service.asked).toEqual([]);
});

test("a request that offers another protocol gets the answer of its route", async () => {
  const lines = ["connection: upgrade, http2-settings, close", "upgrade: h2c"];
  const text = await talk("/v1/health", lines, "GET");
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(text).toContain('"version":"0.0.0-test"');
});

test("web pages cannot join", async () => {
  const text = await talk(`/v1/join?${QUERY}&key=${KEY}`, [...UPGRADE, "origin: http://evil.example"]);
  expect(text).toMatch(/^HTTP\/1\.1 403 /);
});
