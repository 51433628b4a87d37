import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { drained } from "../../../../src/cli/terminal/drained.js";

/** A reader that reads only when it is called. */
function aSlowReader(): { stream: Writable; read: () => void } {
  let take = () => {};
  const stream = new Writable({
    highWaterMark: 10,
    write(_chunk, _encoding, done) {
      take = done;
    },
  });
  return { stream, read: () => take() };
}

const never = new AbortController().signal;

test("if there is room, the write does not wait", async () => {
  const { stream } = aSlowReader();
  stream.write("short");
  await drained([stream], never);
});

test("the write waits for a slow reader", async () => {
  const { stream, read } = aSlowReader();
  stream.write("longer than its buffer");
  let isDrained = false;
  const waiting = drained([stream], never).then(() => {
    isDrained = true;
  });
  await new Promise(setImmediate);
  expect(isDrained).toBe(false);
  read();
  await waiting;
});

test("the write waits neither for a reader that leaves, nor after the signal", async () => {
  const left = aSlowReader().stream;
  left.on("error", () => {});
  left.write("longer than its buffer");
  const leaving = drained([left], never);
  left.destroy(new Error("EPIPE"));
  await leaving;
  await drained([left], never);

  const { stream } = aSlowReader();
  stream.write("longer than its buffer");
  const staying = new AbortController();
  const waiting = drained([stream], staying.signal);
  staying.abort();
  await waiting;
});
