import { describe, expect, test } from "vitest";
import { parseOptions } from "../../../../src/cli/options/options.js";
import { applyScriptOptions, type ScriptOptions } from "../../../../src/cli/options/script-options.js";
import { UserError } from "../../../../src/errors.js";
import { bashAt } from "../../../../src/input/batch/ask-bash.js";
import { parseBatch } from "../../../../src/input/batch/batch-file.js";

const ENV = { TOKEN: "secret" };

async function read(text: string, ...argv: string[]): Promise<ScriptOptions> {
  const invocation = parseOptions({ program: "execute_batch", argv: ["jobs.sh", ...argv], env: ENV });
  if (invocation.command !== "run") throw new Error(`it is ${invocation.command}`);
  const batch = await parseBatch(text, "jobs.sh", bashAt("bash"));
  return applyScriptOptions(batch, invocation.revise, ENV);
}

async function errorOf(text: string): Promise<string> {
  const error = await read(text).catch((thrown) => thrown);
  if (!(error instanceof UserError)) throw new Error("it was accepted", { cause: error });
  return error.message;
}

describe("options at the top of the file", () => {
  test("apply to all jobs", async () => {
    const { options, jobs } = await read(
      "#!/bin/bash\n#@ --gpu-memory-required 8000 --machines a b\n#@ --retries 5 --copy-forward src\n\necho a\n",
    );
    expect(options).toMatchObject({
      machines: ["a", "b"],
      copyForward: ["src"],
      requirement: { memoryMb: 7000, gpu: { memoryMb: 8000 } },
      policy: { retries: 5 },
    });
    expect(jobs).toEqual([{ id: 5, line: 5, name: "jobs.sh.5", command: "echo a" }]);
  });

  test("may list cards, which do not apply to a job that needs none or a whole machine", async () => {
    const { options, jobs } = await read(
      "#@ --gpus 0,1\n\ntrue\n#@ --no-gpu-required\ntrue\n#@ --reserve\ntrue\n",
    );
    expect(options.requirement.gpu?.listed).toEqual([0, 1]);
    expect(jobs.map(({ requirement }) => requirement?.gpu?.listed)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(jobs.map(({ requirement }) => requirement?.reservesMachine)).toEqual([undefined, false, true]);
  });

  test("may be followed by a comment instead of a blank line", async () => {
    const { options } = await read("#@ --num-cpus 3\n# the jobs\necho a\n");
    expect(options.requirement.cpus).toBe(3);
  });

  test("are overridden by the command line, except variables, which are merged", async () => {
    const text =
      "#@ --num-cpus 3 --memory-required 1 --env A=file --env B='file it' --no-gpu-required\n\necho a\n";
    const { options } = await read(text, "--num-cpus", "2", "--env", "A=typed");
    expect(options.requirement).toEqual({ cpus: 2, memoryMb: 1, gpu: null, reservesMachine: false });
    expect(options.env).toEqual({ A: "typed", B: "file it" });
  });
});

describe("options right above a job", () => {
  test("apply to that job only, and take precedence over all others", async () => {
    const { options, jobs, jobEnv } = await read(
      "echo a\n#@ --gpu-memory-required 8000\n#@ --timeout 1h --env TOKEN --env C=3\necho b\necho c\n",
      "--gpu-memory-required",
      "3000",
      "--timeout",
      "5m",
      "--env",
      "D=4",
    );
    expect(options).toMatchObject({ timeoutSeconds: 300, requirement: { gpu: { memoryMb: 3000 } } });
    const [a, b, c] = jobs;
    expect([a, c]).toEqual([
      { id: 1, line: 1, name: "jobs.sh.1", command: "echo a" },
      { id: 5, line: 5, name: "jobs.sh.5", command: "echo c" },
    ]);
    expect(b).toMatchObject({
      line: 4,
      requirement: { memoryMb: 7000, gpu: { memoryMb: 8000, count: 1, isReserved: true } },
      timeoutSeconds: 3600,
      envNames: ["D", "TOKEN", "C"],
    });
    expect([...jobEnv]).toEqual([[4, { D: "4", TOKEN: "secret", C: "3" }]]);
    expect(JSON.stringify(jobs)).not.toContain("secret");
  });

  test("set how much of its output is kept, or that all is", async () => {
    const text =
      "#@ --max-output 1MB --max-old 3\n\n#@ --max-output 2MB\necho a\n#@ --max-output none\necho b\necho c\n";
    const { options, jobs } = await read(text);
    expect(options).toMatchObject({ maxOutput: { bytes: 1_000_000, text: "1MB" }, maxOld: 3 });
    const limits = jobs.map(({ maxOutput }) => maxOutput);
    expect(limits).toEqual([{ bytes: 2_000_000, text: "2MB" }, null, undefined]);
    const error = await errorOf("#@ --max-old 3\necho a\n#@ --max-output 5\necho b\n");
    expect(error).toContain("jobs.sh:1");
    expect(error).toContain("jobs.sh:3");
  });

  test("limit the memory of all jobs, or of one", async () => {
    const text = "#@ --limit-memory\n\n#@ --no-limit-memory\necho a\necho b\n";
    const { options, jobs } = await read(text);
    expect([options.limitsMemory, ...jobs.map(({ limitsMemory }) => limitsMemory)]).toEqual([
      true,
      false,
      undefined,
    ]);
    const own = await read("#@ --limit-memory\necho a\necho b\n");
    expect([own.options.limitsMemory, own.jobs[0]?.limitsMemory]).toEqual([false, true]);
  });

  test("set a wrapper, or that there is none; a job takes precedence over the command line", async () => {
    const text = `#@ --wrap 'env A=1'\n\n#@ --wrap "env B='2 3'"\necho a\n#@ --wrap ''\necho b\necho c\n`;
    const { options, jobs } = await read(text);
    expect(options.wrap).toEqual(["env", "A=1"]);
    expect(jobs.map(({ wrap }) => wrap)).toEqual([["env", "B=2 3"], [], undefined]);
    const typed = await read(text, "--wrap", "nice -n 5");
    expect(typed.options.wrap).toEqual(["nice", "-n", "5"]);
    expect(typed.jobs.map(({ wrap }) => wrap)).toEqual([["env", "B=2 3"], [], undefined]);
    expect((await read(text, "--wrap", "")).options.wrap).toEqual([]);
    const error = await errorOf('#@ --wrap "env \'A"\n\necho a\n');
    expect(error).toContain("jobs.sh:1");
    expect(error).toContain("a quote is not closed");
  });

  test("at the top of the file too, without a blank line between", async () => {
    const { options, jobs } = await read("#@ --num-cpus 3\necho a\necho b\n");
    expect(options.requirement.cpus).toBe(1);
    expect(jobs[0]?.requirement?.cpus).toBe(3);
    expect(jobs[1]?.requirement).toBe(undefined);
  });

  test("with the same requirement as all jobs make no difference", async () => {
    const { jobs } = await read("#@ --num-cpus 1\necho a\n");
    expect(jobs[0]).toEqual({ id: 2, line: 2, name: "jobs.sh.2", command: "echo a" });
  });

  test("with GPU options make the job need a GPU, whatever the other jobs need", async () => {
    const { jobs } = await read("#@ --gpu-memory-required 9\necho a\necho b\n", "--no-gpu-required");
    expect(jobs[0]?.requirement?.gpu?.memoryMb).toBe(9);
  });
});

test("every mistake is reported with its line and the allowed options", async () => {
  const message = await errorOf(
    [
      "#@ --json",
      "#@ --num-cpus many",
      "#@ --rety 3",
      "",
      "#@ --machines a",
      "echo a",
      "#@ --env NOPE",
      "#@ 8000 --help 'x",
      "echo b",
      "#@ 8000",
      "echo c",
    ].join("\n"),
  );
  const lines = message.split("\n");
  expect(lines.map((line) => line.split(": ")[0])).toEqual(
    [1, 2, 3, 5, 7, 8, 10].map((line) => `jobs.sh:${line}`),
  );
  expect(lines[0]).toMatch(/--json cannot be set here \(for all jobs: --num-cpus .* --machines /);
  expect(lines[1]).toMatch(/--num-cpus takes a number <n>, got "many" \(for example --num-cpus 2\)/);
  expect(message).toMatch(/unknown option '--rety'/);
  expect(message).toMatch(
    /--machines cannot be set here \(for one job: --num-cpus [^)]*--name --after --after-any --after-fail\)/,
  );
  expect(message).toMatch(/this shell has no NOPE to pass on/);
  expect(message).toMatch(/a quote is not closed/);
  expect(message).toMatch(/"8000" is no option/);
});

test("a job comes after others, by name or line; the options of one job add up", async () => {
  const { jobs } = await read(
    "true\n#@ --name a --after 1\ntrue\n#@ --after a --after-any 1,a\n#@ --after-fail a\ntrue\n",
  );
  expect(jobs.map(({ dependsOn }) => dependsOn)).toEqual([
    undefined,
    [{ job: 1, when: "succeeded" }],
    [
      { job: 3, when: "succeeded" },
      { job: 1, when: "ended" },
      { job: 3, when: "ended" },
      { job: 3, when: "failed" },
    ],
  ]);
});

test("a job after an unknown job, or after itself, is a mistake; and so are dependencies of all jobs", async () => {
  expect(await errorOf("#@ --after 2\ntrue\n")).toMatch(/^jobs\.sh:1: the job 2 comes after itself/);
  expect(await errorOf("true\n#@ --after-fail 9\ntrue\n")).toMatch(/^jobs\.sh:2: there is no job 9/);
  expect(await errorOf("#@ --after 3\n\ntrue\n")).toMatch(/^jobs\.sh:1: --after cannot be set here/);
});

test("options without a job right below are a mistake after the first job", async () => {
  expect(await errorOf("echo a\n#@ --num-cpus 2\n\necho b\n")).toMatch(
    /^jobs\.sh:2: there is no job right below these options \(put them right above/,
  );
});

test("a job may need resources, parts of cards, and cards of a model", async () => {
  const { options, jobs } = await read(
    "#@ --require '{licence: 1}' --pack\n\ntrue\n#@ --require '{gpu: 0.5, nvme: 1}'\ntrue\n#@ --gpu-model 'A100|H100'\ntrue\n",
    "--no-gpu-required",
  );
  expect(options.requirement).toMatchObject({ gpu: null, resources: { licence: [1] } });
  expect(options.placing).toEqual({ packs: true });
  expect(jobs.map(({ requirement }) => requirement?.resources)).toEqual([
    undefined,
    { nvme: [1] },
    { licence: [1] },
  ]);
  expect(jobs.map(({ requirement }) => requirement?.gpu)).toMatchObject([
    undefined,
    { count: 0.5, isReserved: false },
    { count: 1, model: "A100|H100" },
  ]);
});

test("contradictions of one job are reported with its line", async () => {
  expect(await errorOf("#@ --gpus 0,1\n\ntrue\n#@ --gpu-model A100\ntrue\n")).toContain(
    "jobs.sh:4: --gpus and --gpu-model contradict each other",
  );
});
