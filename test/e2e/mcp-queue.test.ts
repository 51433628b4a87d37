// `sshoal mcp` with the queue service: enqueue, and the other tools on jobs of queues.

import { afterEach, beforeEach, expect, test } from "vitest";
import { type JsonEvent, waitFor } from "../rig/batch.js";
import { type McpRig, startMcp } from "../rig/mcp-client.js";
import { useQueueService } from "../rig/queue-service.js";
import { until } from "../rig/until.js";

const service = useQueueService();
const SMALL = { cpus: 0.01 };

let mcp: McpRig;
beforeEach(async () => {
  mcp = await startMcp({ cwd: service.work.dir, home: service.home.dir, env: service.env });
});
afterEach(() => mcp.end());

const namesOf = (rows: readonly JsonEvent[]) => rows.map(({ job }) => job);

test("enqueue without a service says what to do, and starts it if it is asked to", async () => {
  const text = await mcp.fail("enqueue", { commands: ["true"], ...SMALL });
  expect(text).toMatch(/^error: the queue service does not run\ntry: sshoal serve .*startService: true/);
  const { rows, total } = await mcp.call("enqueue", { commands: ["true"], startService: true, ...SMALL });
  expect({ jobs: namesOf(rows), total }).toEqual({ jobs: ["default/1"], total: 1 });
  await service.untilState("default/1", "succeeded");
  await mcp.end();
  // The service, and with it the queue, is there for the next client.
  expect(await service.job("default/1")).toMatchObject({ state: "succeeded" });
});

test("jobs of a queue: status, why, logs, stop and retry, by their names", async () => {
  await service.lines(["serve"]);
  await service.lines(["queue", "create", "train", "--max-jobs", "1"]);
  const { rows } = await mcp.call("enqueue", {
    queue: "train",
    ...SMALL,
    priority: -5,
    env: { GREETING: "hello" },
    commands: [
      { command: `echo $GREETING; echo sshoal: acc=0.5; ${waitFor("go")}`, name: "first" },
      { command: "exit 3", after: ["first"] },
    ],
  });
  expect(namesOf(rows)).toEqual(["train/1", "train/2"]);
  await service.untilState("train/1", "running");
  expect(await service.job("train/1")).toMatchObject({ priority: -5, name: "first" });

  const before = await mcp.call("status", { batch: "train/", fields: ["job", "state"] });
  expect(before.counts).toEqual({ running: 1, waiting: 1 });
  expect(await mcp.call("status", { batch: "train/", cursor: before.cursor })).toMatchObject({ rows: [] });
  const why = await mcp.call("why", { jobs: ["train/2"] });
  expect(why.rows).toMatchObject([{ job: "train/2", holds: ["it begins when job 1 has succeeded"] }]);
  await service.work.write("go", "");
  const after = await mcp.call("status", { batch: "train/", cursor: before.cursor, waitSeconds: 40 });
  expect(after.rows.length).toBeGreaterThan(0);
  await service.untilState("train/2", "failed");
  const { logs } = await mcp.call("logs", { jobs: ["train/1"] });
  expect(logs).toMatchObject([{ name: "train/1", stream: "out", text: "hello\nsshoal: acc=0.5" }]);

  const results = await mcp.call("results", { batch: "train/", fields: ["name", "metrics"] });
  expect(results).toMatchObject({ total: 2, rows: [{ name: "train/1", metrics: { acc: 0.5 } }, {}] });

  const retried = await mcp.call("retry", { jobs: ["train/2"] });
  expect(retried.rows).toMatchObject([{ job: "train/2", verb: "retry" }]);
  await until("it has failed again", async () => {
    const { state, attempt } = await service.job("train/2");
    return state === "failed" && attempt === 2;
  });
  const { rows: long } = await mcp.call("enqueue", {
    commands: [waitFor("never")],
    queue: "train",
    ...SMALL,
  });
  await service.untilState("train/3", "running");
  expect(await mcp.call("stop", { jobs: namesOf(long) })).toMatchObject({ rows: [{ job: "train/3" }] });
  await service.untilState("train/3", "stopped");
});

test("mistakes of a queue are those of the command line, and nothing is added", async () => {
  await service.lines(["serve"]);
  const wrong = await mcp.fail("enqueue", { commands: ["true"], queue: "defalt", ...SMALL });
  expect(wrong).toContain("there is no queue defalt");
  expect(await mcp.fail("enqueue", { commands: ["true"], after: ["9"], ...SMALL })).toContain("error: ");
  expect(await mcp.fail("enqueue", { commands: ["true", "a\nb"], ...SMALL })).toContain("commands[1]");
  expect(await mcp.fail("status", { batch: "nosuch/" })).toContain("there is no queue nosuch");
  expect(await mcp.fail("stop", { jobs: ["default/7"] })).toContain("default/7");
  expect(await service.jobs("default")).toEqual([]);
});
