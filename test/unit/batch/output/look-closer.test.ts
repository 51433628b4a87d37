import { expect, test } from "vitest";
import { reasonsIn } from "../../../../src/batch/output/look-closer.js";
import { firstReason, reasonFor } from "../../../../src/model/waiting-reason.js";
import { parseSpoolEvent } from "../../../../src/remote/spool/spool-event.js";

const reasons = (...lines: string[]) => reasonsIn(lines.flatMap((line) => parseSpoolEvent(line) ?? []));
const shortage = (...lines: string[]) => firstReason(reasons(...lines)) ?? null;

test("a slot waits until it starts a job or has none left", () => {
  expect(shortage()).toBe(null);
  expect(shortage("waiting 0 memory: a", "waiting 0 memory: b")).toBe("memory: b");
  expect(shortage("waiting 0 memory: a", "started 5000000000001-1-1 0")).toBe(null);
  expect(shortage("waiting 0 memory: a", "waiting 1 GPU 0: c", "idle 0")).toBe("GPU 0: c");
});

test("each job has its own reason, or that of an earlier job with the same need", () => {
  const big = { cpus: 8, memoryMb: 1, gpu: null, reservesMachine: false };
  const jobs = [1, 2, 3, 4].map((id) => ({
    id,
    line: id,
    name: `${id}`,
    command: "",
    ...(id % 2 === 0 && { requirement: big }),
  }));
  const held = reasons(
    "waits 0 5000000000001-1-1 - memory:7000:100",
    "waits 0 5000000000002-2-1 8-1 kept:5000000000001-1-1",
    "waits 1 5000000000001-1-1 - memory:7000:200",
  );
  const all = jobs.map((job) => reasonFor(held, job, (id) => jobs[id - 1]));
  expect(all).toEqual([
    "memory:7000:200",
    "kept:5000000000001-1-1",
    "memory:7000:200",
    "kept:5000000000001-1-1",
  ]);
  expect(firstReason(held)).toBe("memory:7000:200");
});
