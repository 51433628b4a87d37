import { expect, test } from "vitest";
import type { RunEvent } from "../../../src/model/event.js";
import { countJobs } from "../../../src/plan/run-state.js";
import { makeLoop } from "../../../src/run/loop.js";
import { aNewRun, failed, ready } from "../plan/a-run.js";

test("events that arrive while events are written are applied before the next decision", async () => {
  const { state } = aNewRun({ jobs: 1, machines: { a: 1 } });
  const recorded: RunEvent[] = [];
  const loop = makeLoop({
    state,
    perform: async ({ kind }, emit) => {
      if (kind === "connect") emit(ready("a", 1));
    },
    record: { append: (events) => void recorded.push(...events), sync: () => {} },
    // The machine fails a moment after it has answered.
    onEvent: ({ kind }) => {
      if (kind === "machine-ready") queueMicrotask(() => loop.emit(failed("a")));
    },
    now: () => 0,
  });
  await loop.run();
  expect(recorded.map(({ kind }) => kind)).toEqual(["machine-ready", "machine-failed"]);
  expect(countJobs(state)).toMatchObject({ unfinished: 1 });
});
