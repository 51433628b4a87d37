import { expect, test, vi } from "vitest";
import { ConnectError } from "../../../src/transport/connect-error.js";
import { deferred } from "../../../src/transport/deferred.js";
import { Shared } from "../../../src/transport/shared.js";

function connection() {
  const gone = deferred<string>();
  return { gone: gone.promise, die: gone.resolve, close: vi.fn(async () => gone.resolve("closed")) };
}

test("all users share one connection, which is closed with the last of them", async () => {
  const shared = new Shared();
  const jump = connection();
  const open = vi.fn(async () => jump);
  const leases = await Promise.all([1, 2, 3].map(() => shared.lease("jump", open)));
  expect(open).toHaveBeenCalledTimes(1);
  await leases[0]?.release();
  await leases[0]?.release();
  await leases[1]?.release();
  expect(jump.close).not.toHaveBeenCalled();
  await leases[2]?.release();
  expect(jump.close).toHaveBeenCalledTimes(1);
});

test("after the last user has left, or after it died, it is opened again", async () => {
  const shared = new Shared();
  const made = [connection(), connection(), connection()];
  const open = vi.fn(async () => made[open.mock.calls.length - 1] ?? connection());
  await (await shared.lease("jump", open)).release();
  const second = await shared.lease("jump", open);
  made[1]?.die("link lost");
  await made[1]?.gone;
  const third = await shared.lease("jump", open);
  expect(open).toHaveBeenCalledTimes(3);
  // The user of the dead one does not close the new one.
  await second.release();
  expect(made[2]?.close).not.toHaveBeenCalled();
  await third.release();
});

test("a user that stops waiting leaves it to the others; with the last one, opening is aborted, too", async () => {
  const shared = new Shared<ReturnType<typeof connection>>();
  const opened = deferred<ReturnType<typeof connection>>();
  const signals: AbortSignal[] = [];
  const open = (signal: AbortSignal) => {
    signals.push(signal);
    return opened.promise;
  };
  const [first, second] = [new AbortController(), new AbortController()];
  const waiting = [first, second].map(({ signal }) => shared.lease("jump", open, signal));
  first.abort(new Error("stopped"));
  await expect(waiting[0]).rejects.toThrow("stopped");
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  second.abort(new Error("stopped"));
  await expect(waiting[1]).rejects.toThrow("stopped");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  // One that was opened anyway is closed.
  const late = connection();
  opened.resolve(late);
  await late.gone;
  expect(late.close).toHaveBeenCalledTimes(1);
});

test.each([
  ["auth", 1],
  ["host-key", 1],
  ["refused", 2],
  ["timed-out", 2],
] as const)(
  "a failure of kind %s is met %i times by two machines one after the other",
  async (kind, tries) => {
    const shared = new Shared();
    const open = vi.fn(async () => {
      throw new ConnectError(kind, "jump: no", { hint: "" });
    });
    for (let i = 0; i < 2; i++) await expect(shared.lease("jump", open)).rejects.toThrow("jump: no");
    expect(open).toHaveBeenCalledTimes(tries);
  },
);
