// Measures the memory of the queue service with many jobs.

import { setTimeout as sleep } from "node:timers/promises";
import { makeQueueHome, type QueueHome } from "./queue-home.js";
import { FILLED, fillQueue } from "./queue-jobs.js";
import type { Row } from "./report.js";
import type { Rig } from "./rig.js";

const MOST_MB = 200;
const SETTLED_MS = 3000;

/** `full`: its service was started with 100,000 waiting jobs. */
export async function queueMemory(rig: Rig, full: QueueHome): Promise<Row[]> {
  return [
    memoryRow("100,000 waiting, after a start", full),
    await addedMemory(rig),
    await finishedMemory(rig),
  ];
}

async function addedMemory(rig: Rig): Promise<Row> {
  const at = await makeQueueHome(rig);
  try {
    at.run("serve");
    at.run("queue", "create", FILLED);
    at.run("queue", "pause", FILLED);
    const lines = Array.from({ length: 10_000 }, (_, n) => `python train.py --seed ${n}\n`);
    const file = await at.home.write("lines", lines.join(""));
    for (let turn = 0; turn < 10; turn++) await at.contender(at.fed(file, "enqueue", FILLED, "-")).run();
    await sleep(SETTLED_MS);
    return memoryRow("100,000 waiting, just added, 10,000 at a time", at);
  } finally {
    await at.stop();
  }
}

async function finishedMemory(rig: Rig): Promise<Row> {
  const at = await makeQueueHome(rig);
  try {
    const over = { count: 1_000_000, command: "true", cwd: at.home.dir, isPaused: false, areOver: true };
    await at.fill((db) => fillQueue(db, over));
    at.run("serve", "--keep-jobs", "all", "--keep-days", "all");
    at.run("show");
    await sleep(SETTLED_MS);
    return memoryRow("1,000,000 finished", at);
  } finally {
    await at.stop();
  }
}

function memoryRow(what: string, service: QueueHome): Row {
  const megabytes = service.residentBytes() / 1e6;
  return {
    what: `memory of the service: ${what}`,
    ours: `${Math.round(megabytes)} MB`,
    goal: { text: `≤ ${MOST_MB} MB`, isMet: megabytes <= MOST_MB },
  };
}
