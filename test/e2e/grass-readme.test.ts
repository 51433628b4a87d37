// Every line of both READMEs of Grass, typed by sh exactly as written.

import { describe, expect, test } from "vitest";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { useGrass } from "../rig/grass.js";
import { until } from "../rig/until.js";

const grass = useGrass(["python", "main.py"]);

/** As Python's os.system does for each pair. */
const sweep = (line: string) =>
  [0.01, 0.1].flatMap((lr) =>
    [8, 16, 32].map((size) => line.replace("%s", `${lr}`).replace("%s", `${size}`)),
  );

const untilOver = (queue: string) => grass.run(["wait", queue]);

describe("the first README", () => {
  test("examples: a queue with four cards, and a job on half of one", async () => {
    await grass.ok("grass start");
    await grass.ok('grass create-queue q1 --json "{gpu:4,cpu:16}"');
    expect(
      await grass.ok(
        'grass enqueue q1 --env "CUDA_VISIBLE_DEVICES={gpu}" --json "{gpu:0.5}" -- python train.py lr=0.01',
      ),
    ).toBe("q1/1\n");
    await untilOver("q1");
    expect(await grass.notes()).toEqual([expect.stringMatching(/^python train\.py lr=0\.01 on [0-3]$/)]);
    const line =
      "grass enqueue q1 --json '{gpu:0.5}' --cwd=/data/ --env='CUDA_VISIBLE_DEVICES={gpu}' -- CUDA_VISIBLE_DEVICES={gpu} python train.py lr=%s batch_size=%s";
    for (const each of sweep(line)) await grass.ok(each);
    await untilOver("q1");
    const jobs = (await grass.jobs("q1")).slice(1);
    expect(jobs.map(({ command, cwd, terms }) => [command, cwd, terms.envNames])).toEqual(
      sweep("python train.py lr=%s batch_size=%s").map((command) => [
        command,
        "/data",
        ["CUDA_VISIBLE_DEVICES"],
      ]),
    );
    // Most computers have no /data.
    const isThere = jobs.every(({ state }) => state === "succeeded");
    if (isThere) return;
    expect(jobs.map(({ stderrTail }) => stderrTail).join()).toContain("/data");
    expect(await grass.ok("grass show q1")).toMatch(
      / Failed +python train\.py lr=0\.01 batch_size=8 +\{"gpu":"[0-3]"\} +spawn error: the job cannot run in \/data/,
    );
  });

  test("usage: start, create, enqueue, inspect", async () => {
    await grass.ok("grass start");
    await grass.ok("grass create-queue q1 --json '{gpu:2,cpu:16}'");
    await grass.ok("grass enqueue q1 --json '{gpu:0.5}' python train.py");
    await grass.ok(
      "grass enqueue q1 --env PYTHONPATH=.. --env TERM=.. --cwd /data --json '{gpu:0.5}' python train.py",
    );
    await untilOver("q1");
    const [, second] = await grass.jobs("q1");
    expect(second).toMatchObject({ cwd: "/data", terms: { envNames: ["PYTHONPATH", "TERM"] } });
    for (const line of ["grass show", "grass show q1"]) {
      const shown = await grass.ok(line);
      expect(shown).toMatch(/^\[Daemon\]\nBroker: Running \(pid \d+\)\nWorker: this computer\n\[Broker @ /);
      expect(shown).toMatch(/^hostname +os +uptime +queues$/m);
      expect(shown).toMatch(/q1 \(0 running\)/);
      expect(shown).toMatch(/^created +queue +job id +status +command +allocation +result$/m);
      expect(shown).toMatch(
        /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}q1 +1 +Success +python train\.py +\{"gpu":"[01]"\} +-$/m,
      );
    }
  });
});

describe("the second README, local setup", () => {
  const CREATE = 'grass create-queue job1 --capacity "{gpu:4,cpu:16}" main.py arg1';
  const FIRST = 'grass enqueue --require "{gpu:1}" --env "CUDA_VISIBLE_DEVICES={gpu}" job1 arg2 arg3';
  const SECOND = 'grass enqueue --require "{gpu:0.5}" --env "CUDA_VISIBLE_DEVICES={gpu}" job2 arg2 arg3';

  test("a daemon in the foreground, a queue with a command, and a job without a queue", async () => {
    const daemon = await grass.daemon("grass daemon");
    await grass.ok(CREATE);
    await grass.ok(FIRST);
    const missing = await grass.type(SECOND);
    expect(missing).toMatchObject({
      code: 2,
      stdout: "",
      stderr: "error: there is no queue job2, and no program\ntry: did you mean job1?\n",
    });
    const { stdout, stderr } = await grass.type("grass enqueue  python train.py");
    expect(stdout).toBe("default/1\n");
    expect(stderr).toBe("no queue is named python: this goes to the queue default\n");
    await Promise.all([untilOver("job1"), untilOver("default")]);
    expect((await grass.notes()).sort()).toEqual([
      expect.stringMatching(/^main\.py arg1 arg2 arg3 on [0-3]$/),
      "python train.py on none",
    ]);
    expect((await grass.job("job1/1")).command).toBe("main.py arg1 arg2 arg3");
    daemon.interrupt();
    await daemon.ended;
    expect((await grass.type("sshoal serve status")).code).toBe(1);
  });

  test("the script, on a computer with cards, and on one with those that the daemon declares", async () => {
    const line =
      "grass enqueue --require '{gpu:0.5}' --cwd=/data/ --env='CUDA_VISIBLE_DEVICES={gpu}' -- python train.py lr=%s batch_size=%s";
    await grass.ok("grass start");
    const refused = await grass.type(sweep(line)[0] ?? "");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("grass start --capacity '{gpu: 4}'");
    await grass.ok("grass stop");
    await grass.ok("grass start --capacity '{gpu: 4}'");
    for (const each of sweep(line)) await grass.ok(each);
    await untilOver("default");
    const jobs = await grass.jobs("default");
    expect(jobs).toHaveLength(6);
    for (const { got } of jobs) expect(["0", "1", "2", "3"]).toContain(got.gpu[0]);
  });

  test("real cards count instead of those that a queue declares", async () => {
    saveGpus(grass.home.path("nvidia-smi.state"), { gpus: [{}, {}, {}, {}] });
    await grass.ok(`PATH="${STAND_IN_BIN}:$PATH" grass start`);
    await grass.ok(CREATE);
    await grass.ok(FIRST);
    await grass.ok("grass enqueue --require '{gpu:0.5}' -- python train.py");
    await until("both have run", async () => (await grass.notes()).length === 2);
    expect((await grass.notes()).sort()).toEqual([
      expect.stringMatching(/^main\.py arg1 arg2 arg3 on [0-3]$/),
      expect.stringMatching(/^python train\.py on [0-3]$/),
    ]);
  });
});
