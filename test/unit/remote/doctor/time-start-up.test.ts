import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { timeStartUp } from "../../../../src/remote/doctor/time-start-up.js";
import { RemoteError } from "../../../../src/remote/engine/remote-error.js";
import { deferred } from "../../../../src/transport/deferred.js";
import { connectLocal } from "../../../../src/transport/local.js";
import { startScript } from "../../../../src/transport/script/start-script.js";
import type { ExecEnd, Session } from "../../../../src/transport/session.js";

/** A session whose login shell is simulated. */
async function play() {
  const local = await connectLocal();
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const end = deferred<ExecEnd>();
  let isClosed = false;
  const channel = { stdin, stdout, stderr, ended: end.promise, close: () => (isClosed = true) };
  const session: Session = { ...local, exec: async (script) => startScript(channel, script) };
  const finish = () => {
    const marker = /echo (sshoal-begin-\w+);/.exec(String(stdin.read()))?.[1];
    stdout.end(`${marker}\n`);
    stderr.end();
    end.resolve({ kind: "exited", code: 0 });
  };
  return { session, stdout, stderr, finish, isClosed: () => isClosed };
}

test("output of start-up files, on both streams", async () => {
  const { session, stdout, stderr, finish } = await play();
  const startUp = timeStartUp(session);
  stdout.write("Welcome\n");
  stderr.write("careful\n");
  setImmediate(finish);
  expect(await startUp).toEqual({ tookMs: expect.any(Number), noise: "Welcome\n\ncareful" });
});

test("without output the noise is empty", async () => {
  const session = await connectLocal();
  expect((await timeStartUp(session)).noise).toBe("");
  await session.close();
});

test("start-up files that hang are an error, and their channel is closed", async () => {
  const { session, isClosed } = await play();
  const failure = await timeStartUp(session, 10).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RemoteError);
  expect(failure).toMatchObject({
    message: "its login shell ran nothing within 0.01 s",
    hint: expect.any(String),
  });
  expect(isClosed()).toBe(true);
});
