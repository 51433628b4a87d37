import { describe, expect, test } from "vitest";
import { parseOptions } from "../../../../src/cli/options/options.js";
import { applyScriptOptions, type ScriptOptions } from "../../../../src/cli/options/script-options.js";
import { bashAt } from "../../../../src/input/batch/ask-bash.js";
import { parseBatch } from "../../../../src/input/batch/batch-file.js";

async function read(text: string, ...argv: string[]): Promise<ScriptOptions> {
  const invocation = parseOptions({ program: "execute_batch", argv: ["jobs.sh", ...argv], env: {} });
  if (invocation.command !== "run") throw new Error(`it is ${invocation.command}`);
  const batch = await parseBatch(text, "jobs.sh", bashAt("bash"));
  return applyScriptOptions(batch, invocation.revise, {});
}

describe("the command line undoes what the batch file sets", () => {
  test("flags, in either spelling", async () => {
    const text =
      "#@ --no-gpu-required --no-reserve-gpu --reserve --keep-dir --merge --copy-unchanged\n\ntrue\n";
    const flags = [
      "--gpu-required",
      "--reserve-gpu",
      "--no-reserve",
      "--no-keep-dir",
      "--no-merge",
      "--no-copy-unchanged",
    ];
    const { options } = await read(text, ...flags);
    expect(options).toMatchObject({ keepsDir: false, mergesOutput: false, copiesUnchanged: false });
    expect(options.requirement).toMatchObject({ reservesMachine: false, gpu: { isReserved: true } });
  });

  test("values that can be left out", async () => {
    const text = "#@ --machines a b --timeout 1h --exclude x --max-send 1GB --gpus 0,1\n\ntrue\n";
    const { options } = await read(
      text,
      "--no-machines",
      "--no-timeout",
      "--no-exclude",
      "--no-max-send",
      "--no-gpus",
    );
    expect(options).toMatchObject({ machines: [], timeoutSeconds: null, exclude: [], maxSend: null });
    expect(options.requirement.gpu?.listed).toBeUndefined();
  });
});

test("the last of a flag and its opposite counts, also of options that gather values", async () => {
  const { options } = await read(
    "true\n",
    "--exclude",
    "a",
    "--no-exclude",
    "--exclude",
    "b",
    "--tee",
    "--no-tee",
  );
  expect(options).toMatchObject({ exclude: ["b"], tees: false });
});

test("an option with a default has no opposite: its default can be typed", () => {
  for (const flag of ["--no-retries", "--no-memory-required", "--no-copy-forward"])
    expect(() => parseOptions({ program: "execute_batch", argv: ["jobs.sh", flag], env: {} })).toThrow(
      `unknown option '${flag}'`,
    );
});

describe("in a batch file", () => {
  test("for all jobs, and the command line takes precedence", async () => {
    const text = "#@ --gpu-required --no-tee\n\ntrue\n";
    await expect(read(text)).rejects.toThrow("jobs.sh:1: --tee cannot be set here");
    const { options } = await read("#@ --gpu-required\n\ntrue\n", "--no-gpu-required");
    expect(options.requirement.gpu).toBeNull();
  });

  test("for one job", async () => {
    const text = [
      "#@ --no-gpu-required --timeout 1h --copy-forward jobs.sh --keep-dir",
      "",
      "true",
      "#@ --gpu-required --no-timeout --no-keep-dir",
      "true",
      "",
    ].join("\n");
    const { options, jobs } = await read(text);
    expect(options).toMatchObject({ timeoutSeconds: 3600, keepsDir: true, requirement: { gpu: null } });
    const [common, own] = jobs;
    expect(common).not.toHaveProperty("timeoutSeconds");
    expect(own).toMatchObject({ timeoutSeconds: 0, keepsDir: false, requirement: { gpu: { count: 1 } } });
  });
});

test("opposites are neither shortened nor offered, and shorten nothing", () => {
  const parse = (...argv: string[]) =>
    parseOptions({ program: "execute_batch", argv: ["jobs.sh", ...argv], env: {} });
  expect(parse("--no-g")).toMatchObject({ options: { requirement: { gpu: null } } });
  expect(() => parse("--no-mach")).toThrow("unknown option '--no-mach'");
});
