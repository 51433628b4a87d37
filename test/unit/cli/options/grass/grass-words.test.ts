// The words of `grass`: where queues, options and commands are, and what is refused.

import { describe, expect, test } from "vitest";
import type { GrassCreateOptions } from "../../../../../src/cli/options/grass/create-queue-options.js";
import type { GrassEnqueueOptions } from "../../../../../src/cli/options/grass/grass-enqueue-options.js";
import { type Invocation, parseOptions } from "../../../../../src/cli/options/options.js";
import { splitOptionWords } from "../../../../../src/input/batch/option-words.js";

function parse(line: string): Invocation {
  return parseOptions({ program: "grass", argv: splitOptionWords(line) ?? [], env: { SEED: "7" } });
}

/** `queues`: those that exist. */
function enqueue(line: string, queues: readonly string[] = ["q1"]): GrassEnqueueOptions {
  const invocation = parse(`enqueue ${line}`);
  if (invocation.command === "grass-enqueue") return invocation.options;
  if (invocation.command !== "grass-enqueue-open") throw new Error(invocation.command);
  return invocation.read(queues.includes(invocation.first));
}

function create(line: string): GrassCreateOptions {
  const invocation = parse(`create-queue ${line}`);
  if (invocation.command !== "grass-create") throw new Error(invocation.command);
  return invocation.options;
}

function refusal(line: string): { message: string; hint: string | undefined } {
  try {
    if (line.startsWith("enqueue ")) enqueue(line.slice("enqueue ".length));
    else parse(line);
  } catch (error) {
    return error as { message: string; hint: string | undefined };
  }
  throw new Error(`accepted: ${line}`);
}

describe("enqueue: where the command begins", () => {
  test.each([
    ["q1 --env A=1 --json '{gpu:0.5}' -- python train.py lr=0.01", "q1", ["python", "train.py", "lr=0.01"]],
    ["q1 --json '{gpu:0.5}' python train.py", "q1", ["python", "train.py"]],
    ["--require '{gpu:1}' --env A=1 q1 arg2 arg3", "q1", ["arg2", "arg3"]],
    ["--require '{gpu:1}' q1 --lr=0.01", "q1", ["--lr=0.01"]],
    ["q1 -eA=1 -e B=2 x -e C=3", "q1", ["x", "-e", "C=3"]],
    ["q1 --req x", "q1", ["--req", "x"]],
    ["q1 cat -", "q1", ["cat", "-"]],
    ["q1 -", "q1", ["-"]],
    ["q1", "q1", []],
    ["--json '{gpu:1}' -- python train.py", null, ["python", "train.py"]],
    ["python train.py --cwd /x", null, ["python", "train.py", "--cwd", "/x"]],
  ])("%s", (line, queue, words) => {
    expect(enqueue(line)).toMatchObject({ queue, words });
  });

  test("--env takes one value, and can be repeated", () => {
    expect(enqueue("q1 --env PYTHONPATH=.. --env TERM=.. --cwd /data python train.py").said).toMatchObject({
      env: ["PYTHONPATH=..", "TERM=.."],
      cwd: "/data",
    });
  });

  test("--broker is known before the queues are", () => {
    const invocation = parse("enqueue --broker 1.2.3.4:7500 --require '{printer:1}' print paper.pdf");
    expect(invocation).toMatchObject({ first: "print", server: { typed: "tcp://1.2.3.4:7500" } });
    expect(parse("show --broker ada@lab")).toMatchObject({ options: { server: { typed: "ada@lab" } } });
  });
});

describe("enqueue: what a job needs", () => {
  test("only what it asks for: Grass measured neither cores nor memory", () => {
    expect(enqueue("q1 x").said).toEqual({ numCpus: 0, memoryRequired: 0 });
    expect(enqueue("q1 --json '{gpu:0.5,cpu:2}' x").said).toMatchObject({
      numCpus: 2,
      memoryRequired: 0,
      gpusPerJob: 0.5,
      gpuMemoryRequired: 0,
    });
  });

  test("a mistake in JSON5 has its line and column", () => {
    expect(refusal("enqueue q1 --json '{gpu:0.5' x")).toMatchObject({
      message: expect.stringMatching(/^--json "\{gpu:0\.5" cannot be read, line 1, column 9: /),
      hint: expect.stringContaining("--json"),
    });
    expect(refusal("create-queue q1 --capacity '{gpu 4}'").message).toMatch(
      /^--capacity "\{gpu 4\}" cannot be read, line 1, column 6: /,
    );
  });

  test("--json and --require together are refused", () => {
    expect(refusal("enqueue --json '{gpu:1}' --require '{gpu:1}' -- x").message).toContain("mean the same");
  });
});

describe("create-queue", () => {
  test.each([
    ["q1 --json '{gpu:1}'", "q1", []],
    ["job1 --capacity '{gpu:1}' main.py arg1", "job1", ["main.py", "arg1"]],
    ["--capacity '{gpu:1}' cifar100 python train.py", "cifar100", ["python", "train.py"]],
    ["--capacity '{gpu:1}' print -- lpr -P x", "print", ["lpr", "-P", "x"]],
  ])("%s", (line, name, prefix) => {
    expect(create(line).spec).toMatchObject({ name, prefix, capacity: { gpu: { 0: 1 } } });
  });

  test("a queue with a command runs it where the queue was created; another where each job is enqueued", () => {
    expect(create("q1 python train.py").spec.cwd).toBe(process.cwd());
    expect(create("q1 --unsecure").spec.cwd).toBe(process.cwd());
    expect(create("q1 --cwd /data").spec.cwd).toBe("/data");
    expect(create("q1").spec.cwd).toBeNull();
  });

  test("{RAM:512} stays 512 instances, with a hint", () => {
    const { spec, notes } = create("q1 --json '{RAM:512}'");
    expect(Object.keys(spec.capacity?.RAM ?? {})).toHaveLength(512);
    expect(notes.join()).toContain("{RAM: [512]}");
  });

  test("variables may be passed on from this shell", () => {
    expect(create("q1 -e SEED -e A=1")).toMatchObject({ env: { SEED: "7", A: "1" } });
  });

  test("a capacity is given once", () => {
    expect(refusal("create-queue q1 --json '{a:1}' --capacity '{a:1}'").message).toContain("both");
    expect(refusal("create-queue --json '{a:1}'").message).toBe("which queue?");
  });
});

describe("daemon and start", () => {
  test("options that Grass ignored are accepted with a note", () => {
    const invocation = parse("daemon --bind 0.0.0.0:7500 --no-worker --cert my_cert.p12");
    expect(invocation).toMatchObject({
      options: {
        bind: { host: "0.0.0.0", port: 7500 },
        hasWorker: false,
        connect: null,
        notes: [expect.stringContaining("--cert has no effect")],
      },
    });
    expect(parse("start --db Sqlite")).toMatchObject({ options: { isForeground: false } });
  });

  test.each([
    ["daemon --no-worker --no-broker", "leave nothing to run"],
    ["daemon --no-broker", "needs a broker"],
    ["daemon --no-broker --bind 0.0.0.0:1 --connect a:1", "contradict"],
    ["daemon --no-worker --connect a:1", "contradict"],
    ["stop --queue q1", "not the jobs of a queue"],
    ["show q1 --queue q2", "two queues"],
    ["show -i --json", "cannot be combined"],
    ["show --jso", ""],
  ])("%s", (line, message) => {
    if (message === "") expect(parse(line)).toMatchObject({ options: { isJson: true } });
    else expect(refusal(line).message).toContain(message);
  });
});
