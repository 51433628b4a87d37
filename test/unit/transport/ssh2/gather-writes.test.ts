import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { gatherWrites } from "../../../../src/transport/ssh2/gather-writes.js";

/** What it got at once, call by call. */
function gathering() {
  const calls: string[] = [];
  const stream = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      calls.push(String(chunk));
      done();
    },
    writev(chunks, done) {
      calls.push(chunks.map(({ chunk }) => String(chunk)).join("+"));
      done();
    },
  });
  gatherWrites(stream);
  const moment = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { calls, stream, moment };
}

test("writes of one moment are passed on together, in order", async () => {
  const { calls, stream, moment } = gathering();
  for (const part of ["length", "packet", "tag"]) stream.write(part);
  expect(calls).toEqual([]);
  await moment();
  stream.write("next");
  await moment();
  expect(calls).toEqual(["length+packet+tag", "next"]);
});

test("writes before the end come before it", async () => {
  const { calls, stream, moment } = gathering();
  stream.write("good");
  stream.write("bye");
  stream.end();
  await moment();
  expect(calls).toEqual(["good+bye"]);
  expect(stream.writableFinished).toBe(true);
});

test("the caller can cork it", async () => {
  const { calls, stream, moment } = gathering();
  stream.cork();
  stream.write("a");
  stream.write("b");
  stream.uncork();
  expect(calls).toEqual(["a+b"]);
  await moment();
  expect(calls).toEqual(["a+b"]);
});
