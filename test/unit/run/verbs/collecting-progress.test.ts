import { expect, test, vi } from "vitest";
import type { News } from "../../../../src/model/event.js";
import { progressTeller } from "../../../../src/run/verbs/collecting-progress.js";

function aTeller(weigh: () => Promise<number>) {
  const told: News[] = [];
  const tell = progressTeller({ machine: "a", weigh, emit: (news) => told.push(news) });
  return { tell, told };
}

test("a small collection is not measured, and not reported", async () => {
  const weigh = vi.fn(async () => 4e6);
  const { tell, told } = aTeller(weigh);
  for (const bytes of [1e6, 2e6, 4e6]) tell(bytes);
  expect([weigh.mock.calls, told]).toEqual([[], []]);
});

test("a large collection is measured once, and then reported from time to time", async () => {
  const weigh = vi.fn(async () => 100e6);
  const { tell, told } = aTeller(weigh);
  tell(10e6);
  await vi.waitFor(() => expect(weigh).toHaveBeenCalledOnce());
  for (const bytes of [11e6, 12e6, 13e6]) tell(bytes);
  expect(weigh).toHaveBeenCalledOnce();
  expect(told).toEqual([{ kind: "collecting", machine: "a", receivedBytes: 11e6, totalBytes: 100e6 }]);
});

test("never more than the measured size is reported", async () => {
  const { tell, told } = aTeller(async () => 9e6);
  tell(10e6);
  await Promise.resolve();
  tell(11e6);
  expect(told).toEqual([{ kind: "collecting", machine: "a", receivedBytes: 11e6, totalBytes: 11e6 }]);
});

test("if it cannot be measured, nothing is reported", async () => {
  const { tell, told } = aTeller(() => Promise.reject(new Error("no further session")));
  tell(10e6);
  await Promise.resolve();
  tell(11e6);
  expect(told).toEqual([]);
});
