import { expect, test } from "vitest";
import type { RunEvent } from "../../../../src/model/event.js";
import type { Outcome, Requirement } from "../../../../src/model/job.js";
import { grownWords } from "../../../../src/report/text/grown-words.js";
import { aGpuNeed, aNeed } from "../../plan/a-machine.js";

const KILLED: Outcome = { kind: "killed", signal: "SIGKILL", cause: "out-of-memory" };
const LIKELY: Outcome = { kind: "killed", signal: "SIGKILL", cause: "likely-out-of-memory" };
const CARD: Outcome = { kind: "exited", code: 1, cause: "gpu-out-of-memory" };

function words(outcome: Outcome, before: Requirement, requirement: Requirement | null): string {
  const about = { kind: "job-grown", at: 1, job: 1, attempt: 1, machine: "a", outcome, before } as const;
  const event: Extract<RunEvent, { kind: "job-grown" }> =
    requirement === null
      ? { ...about, requirement, reason: "no machine can give it more memory" }
      : { ...about, requirement, prefers: null };
  return grownWords(event);
}

test.each([
  ["out of memory: once more with 4000 MB", KILLED, aNeed({ memoryMb: 2000 }), aNeed({ memoryMb: 4000 })],
  ["likely out of memory: once more with 2 MB", LIKELY, aNeed({ memoryMb: 1 }), aNeed({ memoryMb: 2 })],
  [
    "out of GPU memory: once more with 2000 MB of GPU memory, alone on its card",
    CARD,
    aNeed({ gpu: aGpuNeed({ isReserved: false }) }),
    aNeed({ gpu: aGpuNeed({ memoryMb: 2000 }) }),
  ],
  [
    "out of GPU memory: once more, alone on its cards",
    CARD,
    aNeed({ gpu: aGpuNeed({ count: 1.5 }) }),
    aNeed({ gpu: aGpuNeed({ count: 2 }) }),
  ],
  ["out of memory: not once more, because no machine can give it more memory", KILLED, aNeed(), null],
] as const)("%s", (expected, outcome, before, after) => {
  expect(words(outcome, before, after)).toBe(expected);
});
