import { expect, test } from "vitest";
import type { Job } from "../../../../src/model/job.js";
import { roomTexts } from "../../../../src/run/verbs/room-texts.js";
import { aCapacity, aGpuNeed, aNeed, aSpec, gpus } from "../../plan/a-machine.js";
import { SETTINGS } from "../../report/builders.js";

test("jobs of several needs run side by side: the slots for each add up", () => {
  const spec = aSpec({ maxJobs: null });
  const capacity = aCapacity({ gpus: gpus({}, {}), cpus: { total: 4, free: 4 } });
  const own: Job = {
    id: 1,
    line: 1,
    name: "x.1",
    command: "true",
    requirement: aNeed({ cpus: 3, gpu: null }),
  };
  const slots = (jobs: Job[]) => {
    const settings = { ...SETTINGS, requirement: aNeed({ gpu: aGpuNeed() }) };
    const { room } = roomTexts({ spec, capacity, settings, batch: "b", jobs });
    return Number(/^slots (\d+)$/m.exec(room)?.[1]);
  };
  expect(slots([])).toBe(2);
  expect(slots([own])).toBe(4);
});
