import { expect, test } from "vitest";
import { shortageIn } from "../../../src/batch/look-closer.js";
import { parseSpoolEvent } from "../../../src/remote/spool/spool-event.js";

const shortage = (...lines: string[]) => shortageIn(lines.flatMap((line) => parseSpoolEvent(line) ?? []));

test("a slot waits until it starts a job or has none left", () => {
  expect(shortage()).toBe(null);
  expect(shortage("waiting 0 memory: a", "waiting 0 memory: b")).toBe("memory: b");
  expect(shortage("waiting 0 memory: a", "started 5000000000001-1-1 0")).toBe(null);
  expect(shortage("waiting 0 memory: a", "waiting 1 GPU 0: c", "idle 0")).toBe("GPU 0: c");
});
