// Brokers and workers of `grass` through ssh: no port, no --bind and no token.

import { expect, test } from "vitest";
import { runCommand, spawnCommand } from "../rig/command.js";
import { useFarService } from "../rig/far-service.js";

const far = useFarService();

const options = () => ({ cwd: far.work.dir, home: far.home.dir, program: "grass" as const });
const grass = (...args: string[]) => runCommand(args, options());

test("a worker connects to USER@HOST, runs the jobs of its queues in their directory, and --broker USER@HOST shows them", async () => {
  const worker = spawnCommand(["daemon", "--no-broker", "--connect", far.server], options());
  await worker.until(({ stderr }) => stderr().includes("is connected to the broker of"));
  expect(await grass("create-queue", "w1", "--json", "{gpu:2}", "pwd")).toMatchObject({ code: 0 });
  expect(await grass("enqueue", "w1", "--sync", "--json", "{gpu:1}")).toMatchObject({
    code: 0,
    stdout: "w1/1\n",
  });
  const { stdout } = await far.run(["logs", "--server", far.server, "w1/1"]);
  expect(stdout).toBe(`${far.work.dir}\n`);
  const shown = await grass("show", "--broker", far.server, "w1");
  expect(shown.stdout).toMatch(/ w1 +1 +Success +pwd +\{"gpu":"[01]"\} +-$/m);
  // The computer of the broker is not one of the queue's machines.
  expect(shown.stdout.match(/w1 \(0 running\)/g)).toHaveLength(1);
  expect(await grass("stop")).toMatchObject({ code: 0 });
  expect(await worker.ended).toMatchObject({ code: 0 });
});
