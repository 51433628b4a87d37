import { PassThrough, type Readable } from "node:stream";
import { expect, test } from "vitest";
import { deferred } from "../../../../src/transport/deferred.js";
import { startScript } from "../../../../src/transport/script/start-script.js";
import type { ExecEnd } from "../../../../src/transport/session.js";

/** A simulated channel; `marker` is what the script would print first. */
function play() {
  const end = deferred<ExecEnd>();
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const running = startScript({ stdin, stdout, stderr, ended: end.promise, close: () => {} }, "true");
  const marker = /echo (sshoal-begin-\w+);/.exec(String(stdin.read()))?.[1] ?? "";
  const finish = (code: number) => {
    stdout.end();
    stderr.end();
    end.resolve({ kind: "exited", code });
  };
  return { running, marker: `${marker}\n`, stdout, stderr, finish };
}

async function text(stream: Readable): Promise<string> {
  let all = "";
  for await (const chunk of stream) all += chunk;
  return all;
}

test("output before the marker is dropped, for any cut of the pieces", async () => {
  const { marker: sample } = play();
  for (let cut = 0; cut <= sample.length; cut++) {
    const { running, marker, stdout, finish } = play();
    stdout.write(`noise ${marker.slice(0, cut)}`);
    stdout.write(`${marker.slice(cut)}answer`);
    stdout.write(" goes on");
    finish(0);
    expect(await text(running.stdout)).toBe("answer goes on");
    expect(await running.ended).toEqual({ kind: "exited", code: 0 });
  }
});

test("output before the marker can be requested, but is in no stream", async () => {
  const { running, marker, stdout, stderr, finish } = play();
  stdout.write(`Welcome\n${"!".repeat(5000)}${marker}answer`);
  stderr.write("careful\n");
  finish(0);
  expect(await Promise.all([text(running.stdout), text(running.stderr)])).toEqual(["answer", "careful\n"]);
  expect(running.noise).toMatch(/^Welcome\n!+$/);
  expect(running.noise).toHaveLength(4096);
});

test("endless output does not fill the memory, and the marker is still found after it", async () => {
  const { running, marker, stdout, finish } = play();
  for (let i = 0; i < 1000; i++) stdout.write("x".repeat(10_000));
  stdout.write(`${marker}answer`);
  finish(0);
  expect(await text(running.stdout)).toBe("answer");
});

test("without the marker a success is a failure, and stderr has the other output", async () => {
  const { running, stdout, stderr, finish } = play();
  stderr.write("before\n");
  stdout.write("Account expired.\n");
  finish(0);
  expect(await Promise.all([text(running.stdout), text(running.stderr), running.ended])).toEqual([
    "",
    "before\nthe login shell did not start sh, it printed: Account expired.\n",
    { kind: "exited", code: 127 },
  ]);
});

test("without the marker a failure stays the same", async () => {
  const { running, finish } = play();
  finish(5);
  expect(await running.ended).toEqual({ kind: "exited", code: 5 });
  expect(await text(running.stderr)).toBe("");
});

test("a consumer that stops reading stdout does not block the script", async () => {
  const { running, marker, stdout, finish } = play();
  stdout.write(marker);
  running.stdout.destroy();
  for (let i = 0; i < 100; i++) {
    if (!stdout.write(Buffer.alloc(100_000))) await new Promise((resolve) => stdout.once("drain", resolve));
  }
  finish(0);
  expect(await running.ended).toEqual({ kind: "exited", code: 0 });
});
