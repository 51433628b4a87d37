import { expect, test, vi } from "vitest";
import { deferred } from "../../../../src/transport/deferred.js";
import { SpareShells } from "../../../../src/transport/script/spare-shells.js";
import type { WrappedChannel } from "../../../../src/transport/ssh2/ssh2-channel.js";

function aChannel({ hasEnded = false } = {}): WrappedChannel {
  const running = { close: vi.fn() } as unknown as WrappedChannel["running"];
  return { running, closed: Promise.resolve(), hasEnded: () => hasEnded, lose: () => {} };
}

test("as many as requested, each used once, the oldest first", async () => {
  const channels = [aChannel(), aChannel(), aChannel()];
  const open = vi.fn(async () => channels.shift() ?? null);
  const [first, second] = channels;
  const spares = new SpareShells(open);
  expect(await spares.take()).toBeNull();
  spares.fill(2);
  spares.fill(2);
  expect(open).toHaveBeenCalledTimes(2);
  expect([await spares.take(), await spares.take(), await spares.take()]).toEqual([first, second, null]);
});

test("one that has ended is closed, and the next is used", async () => {
  const [ended, waiting] = [aChannel({ hasEnded: true }), aChannel()];
  const channels = [ended, waiting];
  const spares = new SpareShells(async () => channels.shift() ?? null);
  spares.fill(2);
  expect(await spares.take()).toBe(waiting);
  expect(ended.running.close).toHaveBeenCalledOnce();
});

test("if none can be opened, there is none", async () => {
  const spares = new SpareShells(() => Promise.reject(new Error("open failed")));
  spares.fill(2);
  expect(await spares.take()).toBeNull();
});

test("a script can begin at once only if a shell is open", async () => {
  const opened = deferred<WrappedChannel | null>();
  const spares = new SpareShells(() => opened.promise);
  spares.fill(1);
  expect(spares.isAnyOpen).toBe(false);
  opened.resolve(aChannel());
  await vi.waitFor(() => expect(spares.isAnyOpen).toBe(true));
  await spares.take();
  expect(spares.isAnyOpen).toBe(false);
});
