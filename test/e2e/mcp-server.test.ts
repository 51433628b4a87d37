// `sshoal mcp --server`: the tools ask a queue service on another machine, and batches stay on this computer.

import { expect, test } from "vitest";
import { useFarService } from "../rig/far-service.js";
import { startMcp } from "../rig/mcp-client.js";
import { until } from "../rig/until.js";

const far = useFarService();

test("jobs go to the queue there, with their output and results, and a batch runs here", async () => {
  const mcp = await startMcp({ cwd: far.work.dir, home: far.home.dir }, ["--server", far.server]);
  const commands = ["pwd; echo sshoal: acc=0.7", "exit 3"];
  const { rows } = await mcp.call("enqueue", { commands, cpus: 0.01, cwd: far.dir });
  expect(rows).toMatchObject([{ job: "default/1" }, { job: "default/2" }]);
  const { counts } = await mcp.call("status", { batch: "default/", waitSeconds: 50 });
  expect(counts).toEqual({ succeeded: 1, failed: 1 });
  const { logs } = await mcp.call("logs", { jobs: ["default/1"] });
  expect(logs).toMatchObject([{ text: `${far.dir}\nsshoal: acc=0.7` }]);
  const results = await mcp.call("results", { batch: "default/", sort: "acc", fields: ["name", "metrics"] });
  expect(results.rows[0]).toEqual({ name: "default/1", metrics: { acc: 0.7 } });
  const small = { gpus: 0, cpus: 0.01, memoryMb: 10 };
  await mcp.call("run", { name: "here", commands: ["echo local"], ...small, waitSeconds: 50 });
  await until("its output is here", async () => {
    const text = await far.work.read("job_results/here.sh.1.out").catch(() => "");
    return text === "local\n";
  });

  await far.killService();
  const text = await mcp.fail("enqueue", { commands: ["true"], cwd: far.dir, startService: true });
  expect(text).toMatch(/^error: no queue service runs .*\ntry: ssh .* sshoal serve$/);
  const here = await far.run(["serve", "status"]);
  expect(here.code).toBe(1);
  await mcp.end();
});
