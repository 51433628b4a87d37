import { setImmediate as settle } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Deferred, deferred } from "../../../src/transport/deferred.js";
import { Gate } from "../../../src/transport/gate.js";

/** This many connections to the same place, each until it is released. */
function crowd(gate: Gate, count: number, door = "a", signal?: AbortSignal) {
  const inside: number[] = [];
  const stays: Deferred<void>[] = [];
  const passing = Array.from({ length: count }, (_, i) => {
    const stay = deferred<void>();
    stays.push(stay);
    return gate.pass(
      door,
      async () => {
        inside.push(i);
        await stay.promise;
        return i;
      },
      signal,
    );
  });
  return { inside, stays, passing };
}

test("six are let in, the others follow in order", async () => {
  const { inside, stays, passing } = crowd(new Gate(), 8);
  await settle();
  expect(inside).toEqual([0, 1, 2, 3, 4, 5]);
  stays[3]?.resolve();
  expect(await passing[3]).toBe(3);
  await settle();
  expect(inside).toEqual([0, 1, 2, 3, 4, 5, 6]);
  stays[0]?.reject(new Error("refused"));
  await expect(passing[0]).rejects.toThrow("refused");
  await settle();
  expect(inside.at(-1)).toBe(7);
  for (const stay of stays) stay.resolve();
  await Promise.all(passing.slice(1));
});

test("one place does not block another", async () => {
  const gate = new Gate();
  crowd(gate, 8, "a");
  const other = crowd(gate, 1, "b");
  await settle();
  expect(other.inside).toEqual([0]);
});

test("giving up while waiting leaves no gap", async () => {
  const gate = new Gate();
  const first = crowd(gate, 6);
  const abort = new AbortController();
  const second = crowd(gate, 2, "a", abort.signal);
  const third = crowd(gate, 1);
  abort.abort(new Error("changed my mind"));
  for (const waiting of second.passing) await expect(waiting).rejects.toThrow("changed my mind");
  first.stays[0]?.resolve();
  await first.passing[0];
  await settle();
  expect([second.inside, third.inside]).toEqual([[], [0]]);
});

test.each([0, 1, 2, 3, 4, 5])(
  "giving up about when its turn comes passes the turn on (%i)",
  async (steps) => {
    const gate = new Gate();
    const first = crowd(gate, 6);
    await settle();
    const abort = new AbortController();
    const second = crowd(gate, 1, "a", abort.signal);
    const third = crowd(gate, 1);
    first.stays[0]?.resolve();
    // How many promises lie between leaving and the next turn does not matter: each moment is tried.
    for (let i = 0; i < steps; i++) await Promise.resolve();
    abort.abort(new Error("changed my mind"));
    second.stays[0]?.resolve();
    await Promise.allSettled(second.passing);
    await settle();
    expect(third.inside).toEqual([0]);
  },
);

test("an aborted signal is not let in", async () => {
  const signal = AbortSignal.abort(new Error("too late"));
  const { inside, passing } = crowd(new Gate(), 1, "a", signal);
  await expect(passing[0]).rejects.toThrow("too late");
  expect(inside).toEqual([]);
});
