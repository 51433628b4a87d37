import { expect, test } from "vitest";
import { usualNeed } from "../../../src/plan/queue/queue-need.js";
import { engineJob } from "../../../src/service/engine-job.js";
import { aQueueJob } from "../api/scripted-service.js";
import { aQueue } from "./new-job.js";

test.each([
  ["without a capacity", null],
  ["with one", { cpu: { 0: 1000, 1: 1000 } }],
])(
  "a job with the usual need of its queue has that of the batch, a job with another its own: %s",
  (_, capacity) => {
    const queue = { ...aQueue({ capacity }), isPaused: false, createdAt: 0 };
    const need = usualNeed(queue);
    expect(engineJob(aQueueJob({ need }), queue, false)).not.toHaveProperty("requirement");
    const other = { ...need, memoryMb: 100 };
    expect(engineJob(aQueueJob({ need: other }), queue, false).requirement).toEqual(other);
  },
);
