// What `grass` adds to the queue service: its goals and its list of things to do, by name, its columns, and its refusals.

import { describe, expect, test } from "vitest";
import { listBelow, waitFor } from "../rig/batch.js";
import { useGrass } from "../rig/grass.js";
import { runOnTerminal } from "../rig/terminal.js";
import { until } from "../rig/until.js";

const grass = useGrass(["python"]);

const outOf = async (word: string) => (await grass.ask(`/v1/jobs/${word}/log`)).text;
/** Runs until `go` exists, and notes which card it has. */
const HOLDING = `sh -c 'touch on.$CUDA_VISIBLE_DEVICES.$$; ${waitFor("go").replaceAll("'", `'"'"'`)}'`;
const on = () => listBelow(grass.work.dir).filter((path) => path.startsWith("on."));
const cardsOf = (paths: readonly string[]) => paths.map((path) => path.split(".")[1]).sort();

describe("the goals of Grass", () => {
  test("general resources, which jobs know: lists, names, and one instance of many", async () => {
    await grass.ok("grass start");
    await grass.ok('grass create-queue disks --json \'{hdd:[32,64,128],RAM:[512],gpu:{"2":1,"4":1}}\'');
    const line = `grass enqueue --sync --env 'DISK={hdd}' --json '{hdd:100,RAM:200,gpu:1}' disks sh -c 'echo $DISK $0 $1' '{gpu}' '{"a":1}'`;
    expect(await grass.type(line)).toMatchObject({ code: 0, stdout: "disks/1\n" });
    expect(await outOf("disks/1")).toMatch(/^2 [24] \{"a":1\}\n$/);
    // Fractions of a gpu, of names that are no numbers in a row.
    await grass.ok("grass create-queue two --json '{gpu:{left:1,right:1}}'");
    expect(await grass.type("grass enqueue two --sync --json '{gpu:0.2}' echo '{gpu}'")).toMatchObject({
      code: 0,
    });
    expect(await outOf("two/1")).toMatch(/^(left|right)\n$/);
  });

  test("fractions: of nine jobs of half a card on four, eight run, two per card, and one is Pending", async () => {
    await grass.ok("grass start");
    await grass.ok("grass create-queue q1 --json '{gpu:4,cpu:16}'");
    for (let n = 0; n < 9; n++) await grass.ok(`grass enqueue q1 --json '{gpu:0.5}' -- ${HOLDING}`);
    await until("eight run", () => on().length === 8);
    expect(cardsOf(on())).toEqual(["0", "0", "1", "1", "2", "2", "3", "3"]);
    await until("it is shown", async () => {
      const shown = await grass.ok("grass show q1");
      const statuses = shown.match(/ (Pending|Running) +sh -c/g) ?? [];
      return statuses.filter((word) => word.startsWith(" Running")).length === 8 && statuses.length === 9;
    });
    await grass.work.write("go", "");
    expect(await grass.run(["wait", "q1"])).toMatchObject({ code: 0 });
  });

  test("several devices: of four cards, gpu:2.5 gets two and a half of another", async () => {
    await grass.ok("grass start");
    await grass.ok("grass create-queue q1 --json '{gpu:4}'");
    await grass.ok(`grass enqueue q1 --json '{gpu:2.5}' -- ${HOLDING}`);
    await until("it runs", () => on().length === 1);
    expect(cardsOf(on())).toEqual(["0,1,2"]);
    await grass.ok(`grass enqueue q1 --json '{gpu:0.5}' -- ${HOLDING}`);
    await until("the other half is free", () => on().length === 2);
    expect(cardsOf(on())).toEqual(["0,1,2", "2"]);
    await grass.work.write("go", "");
    expect(await grass.run(["wait", "q1"])).toMatchObject({ code: 0 });
  });
});

describe("its list of things to do", () => {
  test("persistence and recovery: a job is there although the daemon was killed, and queues need not be made again", async () => {
    await grass.ok("grass start");
    const create = "grass create-queue q1 --json '{gpu:4}' -e SEED=7";
    await grass.ok(create);
    await grass.ok(`grass enqueue q1 --json '{gpu:4}' -- ${HOLDING}`);
    await until("it runs", () => on().length === 1);
    await grass.ok("grass enqueue q1 --json '{gpu:1}' -- sh -c 'echo $SEED; exit 3'");
    await grass.kill();
    expect(await grass.type("grass show")).toMatchObject({
      code: 2,
      stderr: "error: the daemon does not run\ntry: grass start\n",
    });
    await grass.ok("grass start");
    expect(await grass.ok(create)).toBe("q1 is there already, with these settings\n");
    expect(await grass.type("grass create-queue q1 --json '{gpu:2}'")).toMatchObject({ code: 2 });
    expect((await grass.jobs("q1")).map(({ state }) => state)).toEqual(["running", "waiting"]);
    await grass.work.write("go", "");
    expect(await grass.untilState("q1/2", "failed")).toMatchObject({ outcome: { code: 3 } });
    await until("its output is here", async () => (await outOf("q1/2")) === "7\n");
    expect(await grass.ok("grass show q1")).toMatch(/Failed .* exit code 3$/m);
  });

  test("a daemon's capacity is shared by queues that declare none", async () => {
    await grass.ok("grass start --capacity '{gpu:2}'");
    await grass.ok("grass create-queue a");
    await grass.ok("grass create-queue b");
    for (const queue of ["a", "b", "a"])
      await grass.ok(`grass enqueue ${queue} --json '{gpu:1}' -- ${HOLDING}`);
    await until("two run", () => on().length === 2);
    expect(cardsOf(on())).toEqual(["0", "1"]);
    // Which one depends on which queue was faster.
    const third = await until("the record has that one waits", async () => {
      const jobs = await Promise.all(["a/1", "b/1", "a/2"].map((word) => grass.job(word)));
      const waiting = jobs.filter(({ state }) => state === "waiting");
      return waiting.length === 1 ? waiting[0] : null;
    });
    const why = await grass.run(["why", `${third.queue}/${third.id}`]);
    expect(why.stdout).toMatch(/gpu +0 free, needs 1/);
    expect(await grass.type("grass start --capacity '{gpu:3}'")).toMatchObject({ code: 2 });
    await grass.work.write("go", "");
    expect(await grass.run(["wait", "a"])).toMatchObject({ code: 0 });
    expect(await grass.run(["wait", "b"])).toMatchObject({ code: 0 });
  });
});

describe("refusals", () => {
  test("what can never run is refused, with what would fit", async () => {
    await grass.ok("grass start");
    await grass.ok("grass create-queue q1 --json '{gpu:4,cpu:16}'");
    const much = await grass.type("grass enqueue q1 --json '{gpu:5}' python x");
    expect(much).toMatchObject({ code: 2, stdout: "" });
    expect(much.stderr).toContain("would fit: gpu: 4");
    const unknown = await grass.type("grass enqueue q1 --json '{tpu:1}' python x");
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(unknown.stderr).toContain("try: ask for what the queue declares: {gpu: 4, cpu: 16}");
    expect(await grass.type("grass enqueue q2 x")).toMatchObject({
      code: 2,
      stderr: "error: there is no queue q2, and no program\ntry: did you mean q1?\n",
    });
    for (const line of ["grass delete-queue train", "grass show train"])
      expect(await grass.type(line)).toMatchObject({
        code: 2,
        stderr: "error: there is no queue train\ntry: grass create-queue train, or grass show\n",
      });
    const bad = await grass.type("grass create-queue q3 --json '{gpu 4}'");
    expect(bad).toMatchObject({ code: 2, stdout: "" });
    expect(bad.stderr).toMatch(/--json "\{gpu 4\}" cannot be read, line 1, column 6/);
  });
});

describe("the details of commands", () => {
  test("--sync exits as the job does, and runs its words without a shell", async () => {
    await grass.ok("grass start");
    await grass.ok("grass create-queue q1 --json '{gpu:1}'");
    expect(await grass.type("grass enqueue q1 --sync -- sh -c 'exit 5'")).toMatchObject({ code: 5 });
    await grass.ok(`grass enqueue q1 --sync -- printf '[%s]' 'a b' '$HOME' '*' '' "it's" '; exit 9'`);
    expect(await outOf("q1/2")).toBe("[a b][$HOME][*][][it's][; exit 9]");
    expect(await grass.type("grass enqueue q1 --sync A={gpu} sh -c 'echo $A$B' -e x")).toMatchObject({
      code: 0,
    });
    expect(await outOf("q1/3")).toBe("{gpu}\n");
  });

  test("a queue with a command: its directory, variables and words come first", async () => {
    await grass.ok("grass start");
    await grass.work.write("there/job.sh", "pwd; echo $A $B $*\n");
    await grass.work.write("caps.json5", "{gpu: 2} // cards\n");
    await grass.ok("cd there && grass create-queue q1 --file ../caps.json5 -e A=queue -e B=queue sh job.sh");
    await grass.ok("grass enqueue q1 --sync -e B=job lr=0.01");
    expect(await outOf("q1/1")).toBe(`${grass.work.path("there")}\nqueue job lr=0.01\n`);
    await grass.ok("grass enqueue q1 --sync");
    expect(await outOf("q1/2")).toBe(`${grass.work.path("there")}\nqueue queue\n`);
    expect(await grass.ok("grass delete-queue q1")).toBe("deleted: q1\n");
    expect((await grass.type("grass enqueue q1 x")).code).toBe(2);
  });

  test("show --json is one object with the columns, and show knows one queue", async () => {
    await grass.ok("grass start");
    await grass.ok("grass create-queue q1 --json '{gpu:1}'");
    await grass.ok("grass create-queue q2 --json '{gpu:1}'");
    await grass.type("grass enqueue q1 --sync --json '{gpu:1}' sh -c 'kill -9 $$'");
    await grass.ok("grass enqueue q2 --sync python x");
    const all = JSON.parse(await grass.ok("grass show --json"));
    expect(all).toMatchObject({
      v: 1,
      kind: "grass",
      daemon: { pid: expect.any(Number), worker: "this computer" },
      broker: {
        address: grass.note().socket,
        workers: [{ hostname: expect.any(String), os: expect.any(String), uptimeMs: expect.any(Number) }],
      },
      jobs: [
        { queue: "q1", id: 1, status: "Failed", allocation: { gpu: "0" }, result: "exit by signal SIGKILL" },
        {
          queue: "q2",
          id: 1,
          status: "Success",
          command: "python x",
          allocation: null,
          result: "-",
          exitCode: 0,
        },
      ],
    });
    expect(JSON.parse(await grass.ok("grass show --queue q2 --json")).jobs).toHaveLength(1);
    expect((await grass.type("grass show q3")).stderr).toContain("did you mean q");
    expect(await grass.type("grass show --broker 127.0.0.1:7500")).toMatchObject({ code: 0 });
    expect((await grass.type("grass show -i")).stderr).toContain("-i needs a terminal");
    const { work, home, env } = grass;
    const live = runOnTerminal(["show", "q2", "-i"], {
      cwd: work.dir,
      home: home.dir,
      program: "grass",
      env,
    });
    await live.shows("python x");
    await grass.ok("grass enqueue q2 python later");
    await live.shows("python later");
    live.type("q");
    expect(await live.ended).toBe(0);
    expect(await grass.ok("grass stop")).toMatch(/^stopped: process \d+; its jobs run on\n$/);
  });
});
