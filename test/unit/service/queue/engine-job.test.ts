import { expect, test } from "vitest";
import { usualNeed } from "../../../../src/plan/queue/queue-need.js";
import { engineJob } from "../../../../src/service/queue/engine-job.js";
import { aQueueJob } from "../../api/scripted-service.js";
import { aQueue } from "../new-job.js";

const LOCAL = { hasCards: false, isLocal: true };

test.each([
  ["without a capacity", null],
  ["with one", { cpu: { 0: 1000, 1: 1000 } }],
])(
  "a job with the usual need of its queue has that of the batch, a job with another its own: %s",
  (_, capacity) => {
    const queue = { ...aQueue({ capacity }), joined: [], isPaused: false, createdAt: 0 };
    const need = usualNeed(queue);
    expect(engineJob(aQueueJob({ need }), queue, LOCAL)).not.toHaveProperty("requirement");
    const other = { ...need, memoryMb: 100 };
    expect(engineJob(aQueueJob({ need: other }), queue, LOCAL).requirement).toEqual(other);
  },
);

test("beside other machines, a job without a copy of its directory can run on this computer alone", () => {
  const queue = { ...aQueue(), joined: [], isPaused: false, createdAt: 0 };
  const mixed = { hasCards: false, isLocal: false };
  const inPlace = engineJob(aQueueJob(), queue, mixed).requirement;
  expect(inPlace?.resources).toEqual({ "this-computer@default": [1] });
  expect(engineJob(aQueueJob({ terms: { tree: "" } }), queue, mixed)).not.toHaveProperty(
    "requirement.resources",
  );
});
