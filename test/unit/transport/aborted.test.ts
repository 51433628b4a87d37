import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { orAfter } from "../../../src/transport/aborted.js";

test("a time limit holds although garbage is collected meanwhile", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const signal = orAfter(new AbortController().signal, 50);
  const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  // What was made in this turn of the event loop is not collected in it.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  await aborted;
  expect(signal.reason).toMatchObject({ name: "TimeoutError" });
});

test("the signal comes first if it is earlier", () => {
  const abort = new AbortController();
  const signal = orAfter(abort.signal, 60_000);
  abort.abort(new Error("changed my mind"));
  expect(signal.reason).toEqual(new Error("changed my mind"));
});
