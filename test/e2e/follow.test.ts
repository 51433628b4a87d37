// --follow: a growing file is a queue.

import { appendFileSync, existsSync, renameSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runCommand, spawnCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";
import { until } from "../rig/until.js";

const own = useOwnHome({ "gpu.queue": "" });

const options = () => ({ cwd: own.work.dir, home: own.home.dir });
const ARGS = ["--follow", "gpu.queue", "--gpus", "0"];

const append = (text: string) => appendFileSync(own.work.path("gpu.queue"), text);
const ran = () => own.work.read("ran").catch(() => "");

function untilRan(text: string): Promise<unknown> {
  return until(`ran ${JSON.stringify(text)}`, async () => (await ran()).length >= text.length).then(
    async () => expect(await ran()).toBe(text),
  );
}

test("jobs start as lines are appended, across rotation and truncation, each once", async () => {
  append("echo 1 >> ran\n");
  const command = spawnCommand(ARGS, options());
  await untilRan("1\n");
  append("for i in 2 3; do\n  echo $i >> ran\ndone\n");
  await untilRan("1\n2\n3\n");
  append("echo 4 >> ran\n");
  renameSync(own.work.path("gpu.queue"), own.work.path("gpu.queue.1"));
  writeFileSync(own.work.path("gpu.queue"), "echo 5 >> ran\n");
  await untilRan("1\n2\n3\n4\n5\n");
  writeFileSync(own.work.path("gpu.queue"), "echo 6 >> ran\n");
  await untilRan("1\n2\n3\n4\n5\n6\n");
  command.child.kill("SIGINT");
  const { code, stdout } = await command.ended;
  expect(code).toBe(130);
  expect(stdout).toContain("finished: gpu.queue.2; for i in 2 3; do");
  expect(await own.work.read("job_results/gpu.queue.7.out")).toBe("");
});

test("a client that resumes reads on: nothing is lost, nothing runs twice", async () => {
  const first = spawnCommand(ARGS, options());
  append("echo 1 >> ran\ntouch begun; until [ -e go ]; do sleep 0.05; done; echo 2 >> ran\necho 3 >> ran\n");
  await until("the second runs", () => existsSync(own.work.path("begun")));
  first.child.kill("SIGKILL");
  await first.ended;
  append("echo 4 >> ran\n");
  const again = spawnCommand(ARGS, options());
  await again.until(({ stdout }) => stdout().includes("resuming"));
  await own.work.write("go", "");
  await untilRan("1\n2\n3\n4\n");
  again.child.kill("SIGINT");
  await again.ended;
  append("echo 5 >> ran\n");
  const third = spawnCommand(ARGS, options());
  await untilRan("1\n2\n3\n4\n5\n");
  third.child.kill("SIGINT");
  await third.ended;
  expect(existsSync(own.work.path("job_results/gpu.queue.5"))).toBe(true);
});

test("a job with files and a name of its own, which a killed client had not sent yet", async () => {
  await own.work.write("data/one.txt", "1\n");
  const first = spawnCommand([...ARGS, "--json"], options());
  await first.until(({ stdout }) => stdout().includes('"machine-ready"'));
  first.child.kill("SIGUSR1");
  await first.until(({ stdout }) => stdout().includes('"paused"'));
  append("#@ --name prepare --copy-forward data --keep-dir\nls; cat data/one.txt\n");
  await first.until(({ stdout }) => stdout().includes('"jobs-added"'));
  first.child.kill("SIGKILL");
  await first.ended;
  const again = spawnCommand(ARGS, options());
  await again.until(({ stdout }) => stdout().includes("finished: gpu.queue.prepare;"));
  append("#@ --name prepare\necho never\n");
  await again.until(({ stderr }) => stderr().includes("the name prepare is taken"));
  again.child.kill("SIGINT");
  const { stderr } = await again.ended;
  expect(stderr).toContain("gpu.queue:3: the name prepare is taken; the job in line 4 is left out\n");
  expect(await own.work.read("job_results/gpu.queue.prepare.out")).toBe("data\n1\n");
});

test.each([
  [["--follow", "nowhere"], "nowhere: there is no such file to follow", "touch nowhere"],
  [
    ["jobs.sh", "--follow", "gpu.queue"],
    "--follow takes its jobs from gpu.queue alone",
    "execute_batch --follow",
  ],
  [["--follow", "-"], "--follow takes its jobs from - alone", "execute_batch - reads stdin"],
  [
    [...ARGS, "--dry-run"],
    "--follow takes its jobs from gpu.queue alone, and runs them",
    "execute_batch --follow",
  ],
])("%j is refused", async (args, message, hint) => {
  const { code, stderr } = await runCommand(args, options());
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
});
