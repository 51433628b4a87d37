// Resources of a queue's own, in a run that stays open: how many jobs run at a time, and what they get.

import { cpus } from "node:os";
import { afterEach, beforeEach, expect, test } from "vitest";
import { waitFor } from "../rig/batch.js";
import { aJob, HERE, type OpenRun, settingsFor, startOpenRun } from "../rig/open-run.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let work: Workspace;
let open: OpenRun;

const NOTHING = { cpus: 0, memoryMb: 0, gpu: null, reservesMachine: false };
const POOL = { "gpu@q": { 0: 1, 1: 1, 2: 1, 3: 1 } };

beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(async () => {
  await open.leave();
  await work.remove();
});

/** How many jobs have reported that they run: each leaves a file, and waits. */
function holding(id: number, own: Parameters<typeof aJob>[2]) {
  return aJob(
    id,
    `echo {gpu} $CUDA_VISIBLE_DEVICES >${work.path(`runs.${id}`)}; ${waitFor(work.path("go"))}`,
    own,
  );
}

test("jobs that need only halves of a pool of four run eight at a time, and get what the commands name", async () => {
  const machine = { ...HERE, maxJobs: null, resources: POOL };
  open = await startOpenRun(work, [machine]);
  const requirement = { ...NOTHING, resources: { "gpu@q": [0.5] } };
  // A job of another need comes first: slots for the others are not planned yet.
  open.run.give([aJob(100, "true", { requirement: { ...NOTHING, cpus: 1 } })], new Map());
  await open.collected(1);
  const ids = [...Array(9).keys()].map((index) => index + 1);
  open.run.give(
    ids.map((id) => holding(id, { requirement })),
    new Map(),
  );
  await until("eight run", () => open.of("job-started").length === 9);
  await until("the ninth waits for the pool", () =>
    open.of("slot-waiting").some(({ reason }) => JSON.stringify(reason).includes("gpu@q")),
  );
  expect(open.of("job-started")).toHaveLength(9);
  const got = open
    .of("job-started")
    .flatMap(({ job, resources }) => (job === 100 ? [] : (resources?.["gpu@q"] ?? [])));
  expect(got.sort()).toEqual(["0", "0", "1", "1", "2", "2", "3", "3"]);
  await work.write("go", "");
  await open.end();
  for (const { job, resources } of open.of("job-started"))
    if (job !== 100) expect(await work.read(`runs.${job}`)).toBe(`${resources?.["gpu@q"]?.[0]}\n`);
});

test("jobs that ask for nothing do not all run at once", async () => {
  open = await startOpenRun(work, [{ ...HERE, maxJobs: null }], { settings: settingsFor(NOTHING) });
  const ids = [...Array(40).keys()].map((index) => index + 1);
  open.run.give(
    ids.map((id) => holding(id, {})),
    new Map(),
  );
  const slots = () => open.of("machine-ready")[0]?.slots.length ?? 0;
  await until("the machine is measured", () => slots() > 0);
  await until("all slots run", () => open.of("job-started").length >= slots());
  await work.write("go", "");
  await open.end();
  const used = new Set(open.of("job-started").map(({ slot }) => slot));
  expect(used.size).toBe(slots());
  expect(slots()).toBe(Math.max(16, 4 * cpus().length));
});
