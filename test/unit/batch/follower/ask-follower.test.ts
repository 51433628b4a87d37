import { hostname } from "node:os";
import { afterEach, beforeEach, expect, test } from "vitest";
import { reachFollower } from "../../../../src/batch/follower/ask-follower.js";
import { UserError } from "../../../../src/errors.js";
import { takeLock } from "../../../../src/run/home/lock.js";
import { Results } from "../../../../src/run/home/results.js";
import type { JsonChannel } from "../../../../src/socket/json-channel.js";
import { type Listening, listenIn } from "../../../../src/socket/listening.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let results: Results;
let listening: Listening | null = null;

beforeEach(async () => {
  work = await makeWorkspace();
  results = new Results(work.dir);
  await results.prepare();
});
afterEach(async () => {
  await listening?.close();
  await work.remove();
});

/** A client that follows jobs.sh, and calls this for each process that asks. */
async function follower(serve: (channel: JsonChannel) => void): Promise<void> {
  listening = await listenIn([work.path("s")], serve);
  takeLock(work.path("job_results/.sshoal/jobs.sh.lock"), { socket: listening?.path ?? "" });
}

test("if the follower ends during a request, the error names it and what to type", async () => {
  await follower((channel) => {
    channel.send({ kind: "hello", protocol: 1 });
    channel.listen(() => void channel.end());
  });
  const reached = await reachFollower(results, "jobs.sh");
  const error = await reached?.ask({ kind: "drain", machine: "a" }).catch((each: unknown) => each);
  expect(error).toBeInstanceOf(UserError);
  expect((error as UserError).message).toBe(`process ${process.pid}, which followed the batch, is gone`);
  expect((error as UserError).hint).toBe(
    "see its state with sshoal status, then type the same command again",
  );
});

test("a refusal is an error with the follower's hint", async () => {
  await follower((channel) => {
    channel.send({ kind: "hello", protocol: 1 });
    channel.listen(() => channel.send({ kind: "refused", message: "no", hint: "try this" }));
  });
  const reached = await reachFollower(results, "jobs.sh");
  await expect(reached?.ask({ kind: "retry", jobs: [1] })).rejects.toMatchObject({
    message: "no",
    hint: "try this",
    exitCode: 2,
  });
  reached?.close();
});

test("a follower that says nothing is waited for until the signal comes", async () => {
  await follower(() => {});
  const asked = new AbortController();
  const reaching = reachFollower(results, "jobs.sh", asked.signal);
  asked.abort();
  await expect(reaching).rejects.toThrow(`process ${process.pid} follows this batch, and does not answer`);
});

test.each([{ kind: "hello", protocol: 2 }, { kind: "done" }])(
  "a follower whose first message is %j cannot be asked",
  async (hello) => {
    await follower((channel) => channel.send(hello));
    expect(await reachFollower(results, "jobs.sh")).toBeNull();
  },
);

test("a follower on another computer, a dead one, or one without a socket cannot be asked", async () => {
  const lock = "job_results/.sshoal/jobs.sh.lock";
  expect(await reachFollower(results, "jobs.sh")).toBeNull();
  await follower(() => {});
  const { path = "" } = listening ?? {};
  await work.write(lock, JSON.stringify({ pid: 1, startedAt: "", host: "elsewhere", socket: path }));
  expect(await reachFollower(results, "jobs.sh")).toBeNull();
  await work.write(
    lock,
    JSON.stringify({ pid: 2 ** 22 + 1, startedAt: "1", host: hostname(), socket: path }),
  );
  expect(await reachFollower(results, "jobs.sh")).toBeNull();
  await work.write(lock, "{}");
  expect(await reachFollower(results, "jobs.sh")).toBeNull();
});
