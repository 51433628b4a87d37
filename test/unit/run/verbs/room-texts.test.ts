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
  const slots = (jobs: Job[], staysOpen = false) => {
    const settings = { ...SETTINGS, requirement: aNeed({ gpu: aGpuNeed() }) };
    const { room } = roomTexts({ spec, capacity, settings, batch: "b", jobs, staysOpen });
    return Number(/^slots (\d+)$/m.exec(room)?.[1]);
  };
  expect(slots([])).toBe(2);
  expect(slots([own])).toBe(4);
  // Jobs of other needs may come.
  expect(slots([own], true)).toBe(16);
});

test("a limit of slots holds for jobs of several needs together", () => {
  const capacity = aCapacity({ cpus: { total: 8, free: 8 } });
  const [one, two] = [1, 2].map((cpus, n): Job => {
    const requirement = aNeed({ cpus, gpu: null });
    return { id: n + 1, line: n + 1, name: `x.${n + 1}`, command: "true", requirement };
  });
  const settings = { ...SETTINGS, requirement: aNeed({ cpus: 0, gpu: null }) };
  for (const staysOpen of [false, true]) {
    const jobs = [one, two].flatMap((job) => job ?? []);
    const spec = aSpec({ maxJobs: null, mostSlots: 1 });
    const { room } = roomTexts({ spec, capacity, settings, batch: "b", jobs, staysOpen });
    expect(room).toMatch(/^slots 1$/m);
  }
});
