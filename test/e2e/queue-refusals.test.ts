// Mistakes at a queue are refused at once, with the next thing to type; and values of variables stay secret.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { listBelow } from "../rig/batch.js";
import { LITTLE, useQueueService } from "../rig/queue-service.js";

const service = useQueueService();
beforeEach(() => service.lines(["serve"]));

test("a need that no machine can meet is refused with the nearest that fits", async () => {
  await service.lines(["queue", "create", "cards", "--capacity", "{gpu: 4, RAM: [512]}"]);
  const gpus = await service.run(["enqueue", "cards", "--require", "{gpu: 5}", "--", "true"]);
  expect(gpus).toMatchObject({ code: 2, stdout: "" });
  expect(gpus.stderr).toContain("gpu: a job needs 5, the machine has 4; would fit: gpu: 4");
  const ram = await service.run(["enqueue", "cards", "--require", "{RAM: 600}", "--", "true"]);
  expect(ram).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/RAM: a job needs 600.*would fit: RAM: 512/),
  });
  const cores = await service.run(["enqueue", "--num-cpus", "4000", "--", "true"]);
  expect(cores).toMatchObject({ code: 2, stderr: expect.stringMatching(/needs 4000/) });
  expect(
    await service.run(["enqueue", "cards", "--require", "{gpu: 4}", "--wait", ...LITTLE, "--", "true"]),
  ).toMatchObject({
    code: 0,
  });
});

test("bad JSON5 is refused with line and column", async () => {
  const capacity = await service.run(["queue", "create", "bad", "--capacity", "{\n  gpu: 4,\n  cpu: }"]);
  expect(capacity).toMatchObject({ code: 2, stderr: expect.stringContaining("line 3, column 8") });
  const need = await service.run(["enqueue", "--require", "{gpu 1}", "--", "true"]);
  expect(need).toMatchObject({ code: 2, stderr: expect.stringContaining("line 1, column 6") });
  const { queues } = await service.json("/v1/queues");
  expect(queues.map(({ name }: { name: string }) => name)).toEqual(["default"]);
});

test("an unknown queue or job is refused with the nearest name", async () => {
  await service.lines(["queue", "create", "train"]);
  const queue = await service.run(["enqueue", "trian", "--", "true"]);
  expect(queue).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean train?") });
  const shown = await service.run(["show", "trian"]);
  expect(shown).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean train?") });
  const job = await service.run(["stop", "train/7"]);
  expect(job).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no job train/7") });
});

test("a mistyped option is refused, and does not begin a command", async () => {
  await service.lines(["queue", "create", "train"]);
  const typed = await service.run(["enqueue", "train", "--job-name", "x", "--", "true"]);
  expect(typed).toMatchObject({ code: 2, stderr: expect.stringContaining("unknown option '--job-name'") });
});

test("a queue without the machine that is to be drained is refused with what it has", async () => {
  await service.lines(["queue", "create", "train"]);
  const refused = { code: 2, stderr: expect.stringContaining("the queue has train/localhost") };
  expect(await service.run(["drain", "train/gpu9"])).toMatchObject(refused);
  expect(await service.run(["drain", "train"])).toMatchObject(refused);
});

test("a dependency on a job that is not there, or in a circle, is refused, and takes no id", async () => {
  const missing = await service.run(["enqueue", "--after", "12", "--", "true"]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("no such job") });
  await service.work.write("round.sh", "#@ --name a --after b\ntrue\n#@ --name b --after a\ntrue\n");
  const circle = await service.run(["enqueue", "round.sh"]);
  expect(circle.code).toBe(2);
  expect(circle.stderr).toContain("round.sh:1: jobs wait for each other");
  expect(await service.add("default", ["--wait"], "true")).toBe("default/1");
});

describe("variables", () => {
  const SECRET = "hush-4711-hush";
  const SHELL = "murmur-0815-murmur";

  test("a job gets --env and the variables of the shell that enqueued it, not those of the service", async () => {
    const env = { FROM_SHELL: SHELL, KEPT: "shell" };
    const words = ["enqueue", ...LITTLE, "--wait", "--env", `TOKEN=${SECRET}`, "--env", "KEPT=own"];
    const command = 'echo "$TOKEN $FROM_SHELL $KEPT"';
    expect(await service.run([...words, "--", command], { env })).toMatchObject({ code: 0 });
    expect((await service.ask("/v1/jobs/default/1/log")).text).toBe(`${SECRET} ${SHELL} own\n`);
  });

  test("their values are in secrets.db alone", async () => {
    const env = { FROM_SHELL: SHELL };
    await service.run(
      ["enqueue", ...LITTLE, "--wait", "--env", `TOKEN=${SECRET}`, "--", 'test -n "$TOKEN"'],
      { env },
    );
    const { stdout } = await service.run(["show", "--json"]);
    expect(stdout).toContain('"TOKEN"');
    const events = await service.ask("/v1/events?after=0", {
      isEnough: (text) => text.includes("job-ended"),
    });
    const state = await service.ask("/v1/state");
    for (const text of [stdout, events.text, state.text]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(SHELL);
    }
    expect(filesWith(SECRET)).toEqual(["secrets.db"]);
    expect(filesWith(SHELL)).toEqual(["secrets.db"]);
  });

  /** Journals count as their database. */
  function filesWith(text: string): string[] {
    const dir = service.home.path(".local/state/sshoal");
    const files = listBelow(dir).filter((path) => statSync(join(dir, path)).isFile());
    const found = files.filter((path) => readFileSync(join(dir, path)).includes(text));
    return [...new Set(found.map((path) => path.replace(/^[^/]*\//, "").replace(/-(wal|shm)$/, "")))];
  }
});
