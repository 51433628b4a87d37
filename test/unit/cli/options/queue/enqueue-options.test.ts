import { describe, expect, test } from "vitest";
import { type Invocation, parseOptions } from "../../../../../src/cli/options/options.js";
import { commandLine } from "../../../../../src/cli/options/queue/command-line.js";
import type { EnqueueOptions } from "../../../../../src/cli/options/queue/enqueue-options.js";
import { askedJob } from "../../../../../src/cli/options/queue/job-ask.js";
import { splitOptionWords } from "../../../../../src/input/batch/option-words.js";

function parse(line: string): Invocation {
  return parseOptions({ program: "sshoal", argv: ["enqueue", ...(splitOptionWords(line) ?? [])], env: {} });
}

/** `queues`: those that exist. */
function read(line: string, queues: readonly string[] = ["train"]): EnqueueOptions {
  const invocation = parse(line);
  if (invocation.command === "enqueue") return invocation.options;
  if (invocation.command !== "enqueue-open") throw new Error(invocation.command);
  const options = invocation.read(queues.includes(invocation.first));
  if (options === null) throw new Error("answered");
  return options;
}

describe("where the command begins", () => {
  test.each([
    ["-- python train.py --lr 3", null, ["python", "train.py", "--lr", "3"]],
    ["train -- python -u x", "train", ["python", "-u", "x"]],
    ["train --priority 3 -- python", "train", ["python"]],
    ["--priority -3 train -- python", "train", ["python"]],
    ["train python --name x", "train", ["python", "--name", "x"]],
    ["train --name y python --name x", "train", ["python", "--name", "x"]],
    ["python train.py --name x", null, ["python", "train.py", "--name", "x"]],
    ["python --name x", null, ["python", "--name", "x"]],
    ["--hold python --wait", null, ["python", "--wait"]],
    ["train - --hold", "train", ["-"]],
    ["- --hold", null, ["-"]],
    ["train jobs.sh", "train", ["jobs.sh"]],
    ["train -- a -- b", "train", ["a", "--", "b"]],
  ])("enqueue %s", (line, queue, words) => {
    expect(read(line)).toMatchObject({ queue, words });
  });

  test("only a word after -- is never a file", () => {
    expect(read("train -- jobs.sh").isMarked).toBe(true);
    expect(read("train jobs.sh").isMarked).toBe(false);
  });

  test("options of the command are not those of enqueue", () => {
    expect(read("python train.py --name x").said).toEqual({});
    expect(read("train --name y python --name x").said).toEqual({ name: "y" });
  });

  test.each(["", "train --", "--priority 3", "--"])(
    "a line without a command is refused: enqueue %s",
    (line) => {
      expect(() => read(line)).toThrow("which command?");
    },
  );

  test("an unknown option before the command is refused", () => {
    expect(() => read("--prioritty 3 -- x")).toThrow(
      expect.objectContaining({ hint: "did you mean --priority?" }),
    );
  });
});

describe("the line for the shell", () => {
  test.each([
    [["a b; c"], "a b; c"],
    [["sh", "-c", "echo $X"], "sh -c 'echo $X'"],
    [["time", "x"], "'time' x"],
    [["A=1", ""], "'A=1' ''"],
  ])("%j", (words, line) => {
    expect(commandLine(words)).toBe(line);
  });
});

function askOf(line: string, capacity: Parameters<typeof askedJob>[2]["capacity"] = null) {
  const { said } = read(`${line} -- true`);
  return askedJob("true", said, { queue: "train", capacity, env: { SEED: "7" }, cwd: "/w" }).ask;
}

describe("what the service is asked for", () => {
  test("without options a core, and nothing in a queue with a capacity", () => {
    expect(askOf("").need).toEqual({ cpus: 1, memoryMb: 0, gpu: null, reservesMachine: false });
    expect(askOf("", { gpu: { 0: 1 } }).need?.cpus).toBe(0);
  });

  test("an option about cards asks for one", () => {
    expect(askOf("--require '{gpu: 0.5, licence: 1}'").need).toMatchObject({
      gpu: { count: 0.5, isReserved: false },
      resources: { licence: [1] },
    });
    expect(askOf("--gpu-memory-required 4GB").need?.gpu).toMatchObject({ count: 1, memoryMb: 4096 });
    expect(askOf("--gpu-memory-required 4GB --no-gpu-required").need?.gpu).toBeNull();
  });

  test("dependencies by id, range, name and address", () => {
    expect(askOf("--after 3,5-6 --after-any prep --after-fail train/9").after).toEqual([
      { when: "succeeded", job: 3 },
      { when: "succeeded", job: 5 },
      { when: "succeeded", job: 6 },
      { when: "ended", job: "prep" },
      { when: "failed", job: 9 },
    ]);
    expect(() => askOf("--after other/3")).toThrow("only for jobs of its own queue");
    expect(() => askOf("--after 6-5")).toThrow("not a range");
  });

  test("terms, with absolute paths", () => {
    const ask = askOf(
      "--priority -5 --cwd sub --out log --timeout 2m --retries 3 --hold --name a --env SEED --merge",
    );
    expect(ask).toMatchObject({ priority: -5, cwd: "/w/sub", isHeld: true, name: "a", env: { SEED: "7" } });
    expect(ask.terms).toEqual({ outFile: "/w/log", timeoutSeconds: 120, retries: 3, mergesOutput: true });
  });

  test.each(["--priority 500", "--priority 1.5", "--name 7", "--name a/b"])("%s is refused", (line) => {
    expect(() => askOf(line)).toThrow();
  });
});
