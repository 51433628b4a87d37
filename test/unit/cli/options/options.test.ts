import { afterEach, describe, expect, test, vi } from "vitest";
import { type Invocation, parseOptions } from "../../../../src/cli/options/options.js";
import type { RunOptions } from "../../../../src/cli/options/run-options.js";
import { ExitCode, UserError } from "../../../../src/errors.js";

afterEach(() => {
  vi.restoreAllMocks();
});

function parse(argv: readonly string[], env: Record<string, string> = {}): Invocation {
  return parseOptions({ program: "execute_batch", argv, env });
}

function run(...argv: string[]): RunOptions {
  const invocation = parse(["jobs.sh", ...argv], { TOKEN: "secret" });
  if (invocation.command !== "run") throw new Error(`it is ${invocation.command}`);
  return invocation.options;
}

function errorOf(...argv: string[]): UserError {
  try {
    parse(argv);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(error.exitCode).toBe(ExitCode.BadInput);
    return error;
  }
  throw new Error("it was accepted");
}

test("the defaults are those of ml-scheduler", () => {
  expect(run()).toEqual({
    script: "jobs.sh",
    follows: false,
    isKabuki: false,
    machines: [],
    configFile: null,
    hostKeys: null,
    requirement: {
      cpus: 1,
      memoryMb: 7000,
      reservesMachine: false,
      gpu: { count: 1, memoryMb: 1000, utilization: 0.75, isReserved: true },
    },
    copyForward: null,
    copyBackwards: null,
    copiesUnchanged: false,
    exclude: [],
    maxSend: null,
    keepsDir: false,
    mergesOutput: false,
    placing: {},
    maxOutput: null,
    wrap: null,
    limitsMemory: false,
    maxOld: null,
    env: {},
    envFromFiles: [],
    timeoutSeconds: null,
    isDryRun: false,
    isJson: false,
    isVerbose: false,
    detaches: false,
    tees: false,
    notify: { command: null, on: null },
    pausesOnCrash: true,
    policy: { retries: 2, retriesFailures: false, reassignAfterMs: 600_000, halt: null },
    rerun: "stopped",
    keepsChanged: false,
    voice: "sshoal",
  });
});

describe("options with a value, in both spellings", () => {
  const read: [string, string, (options: RunOptions) => unknown, unknown][] = [
    ["--num-cpus", "2.5", ({ requirement }) => requirement.cpus, 2.5],
    ["--memory-required", "500", ({ requirement }) => requirement.memoryMb, 500],
    ["--memory-required", "10GB", ({ requirement }) => requirement.memoryMb, 10_240],
    ["--memory-required", "1.5g", ({ requirement }) => requirement.memoryMb, 1536],
    ["--gpu-memory-required", "512MiB", ({ requirement }) => requirement.gpu?.memoryMb, 512],
    ["--gpu-memory-required", "3000", ({ requirement }) => requirement.gpu?.memoryMb, 3000],
    ["--gpu-utilization", "0.25", ({ requirement }) => requirement.gpu?.utilization, 0.25],
    ["--gpus-per-job", "4", ({ requirement }) => requirement.gpu?.count, 4],
    ["--gpus-per-job", "2.5", ({ requirement }) => requirement.gpu?.count, 2.5],
    ["--gpu-model", "A100|H100", ({ requirement }) => requirement.gpu?.model, "A100|H100"],
    ["--gpu-memory-total", "40GB", ({ requirement }) => requirement.gpu?.memoryTotalMb, 38_146],
    ["--gpu-memory-total", "40GiB", ({ requirement }) => requirement.gpu?.memoryTotalMb, 40_960],
    ["--gpu-memory-total", "40000", ({ requirement }) => requirement.gpu?.memoryTotalMb, 40_000],
    ["--require", "{nvme: [1, .5]}", ({ requirement }) => requirement.resources, { nvme: [1, 0.5] }],
    ["--machines", "a.yaml", ({ machines }) => machines, ["a.yaml"]],
    ["--copy-forward", "src", ({ copyForward }) => copyForward, ["src"]],
    ["--copy-backwards", "out", ({ copyBackwards }) => copyBackwards, ["out"]],
    ["--copy-b", "out", ({ copyBackwards }) => copyBackwards, ["out"]],
    ["--env", "A=b=c d", ({ env }) => env, { A: "b=c d" }],
    ["--timeout", "1h30m", ({ timeoutSeconds }) => timeoutSeconds, 5400],
    ["--max-output", "100MB", ({ maxOutput }) => maxOutput, { bytes: 100_000_000, text: "100MB" }],
    ["--max-output", "1.5 GiB", ({ maxOutput }) => maxOutput, { bytes: 1_610_612_736, text: "1.5GiB" }],
    [
      "--wrap",
      "apptainer exec --nv 'my image.sif'",
      ({ wrap }) => wrap,
      ["apptainer", "exec", "--nv", "my image.sif"],
    ],
    ["--max-output", "none", ({ maxOutput }) => maxOutput, null],
    ["--max-old", "0", ({ maxOld }) => maxOld, 0],
    ["--max-old", "all", ({ maxOld }) => maxOld, null],
    ["--retries", "0", ({ policy }) => policy.retries, 0],
    ["--reassign-after", "90s", ({ policy }) => policy.reassignAfterMs, 90_000],
    ["--reassign-after", "never", ({ policy }) => policy.reassignAfterMs, null],
    [
      "--halt",
      "now,fail=10%",
      ({ policy }) => policy.halt,
      { when: "now", why: "fail", amount: 10, unit: "percent" },
    ],
    ["--halt", "-1", ({ policy }) => policy.halt, { when: "soon", why: "success", amount: 1, unit: "jobs" }],
    ["--halt", "never", ({ policy }) => policy.halt, null],
    ["--rerun", "changed", ({ rerun }) => rerun, "changed"],
    ["--host-keys", "accept-new", ({ hostKeys }) => hostKeys, "accept-new"],
  ];
  test.each(read)("%s %s", (flag, value, look, expected) => {
    expect(look(run(flag, value))).toEqual(expected);
    expect(look(run(`${flag}=${value}`))).toEqual(expected);
  });
});

describe("switches", () => {
  test.each<[string, (options: RunOptions) => unknown, unknown]>([
    ["--reserve", ({ requirement }) => requirement.reservesMachine, true],
    ["--no-reserve-gpu", ({ requirement }) => requirement.gpu?.isReserved, false],
    ["--no-gpu-required", ({ requirement }) => requirement.gpu, null],
    ["--copy-unchanged", ({ copiesUnchanged }) => copiesUnchanged, true],
    ["--retry-on-failure", ({ policy }) => policy.retriesFailures, true],
    ["--retry-failed", ({ rerun }) => rerun, "failed"],
    ["--detach", ({ detaches }) => detaches, true],
    ["--tee", ({ tees }) => tees, true],
    ["--dry-run", ({ isDryRun }) => isDryRun, true],
    ["--json", ({ isJson }) => isJson, true],
    ["--verbose", ({ isVerbose }) => isVerbose, true],
    ["-v", ({ isVerbose }) => isVerbose, true],
  ])("%s", (flag, look, expected) => {
    expect(look(run(flag))).toEqual(expected);
    expect(look(run())).not.toEqual(expected);
  });
});

describe("lists", () => {
  test("several words after one flag, or the flag again", () => {
    expect(run("--machines", "a.yaml", "b.yaml", "--json").machines).toEqual(["a.yaml", "b.yaml"]);
    expect(run("--machines", "a.yaml", "--machines", "b.yaml").machines).toEqual(["a.yaml", "b.yaml"]);
    expect(run("--copy-forward", "a", "b", "--copy-backwards", "c", "d")).toMatchObject({
      copyForward: ["a", "b"],
      copyBackwards: ["c", "d"],
    });
  });

  test("the script may follow them, after another option", () => {
    const invocation = parse(["--machines", "a.yaml", "b.yaml", "--num-cpus", "2", "jobs.sh"]);
    expect(invocation).toMatchObject({ options: { script: "jobs.sh", machines: ["a.yaml", "b.yaml"] } });
  });

  test.each([
    ["--machines", ["--machines", "a.yaml", "b.yml", "jobs.sh"]],
    ["--copy-forward", ["--machines", "a.yaml", "--copy-forward", "src", "jobs.sh"]],
    ["--copy-backwards", ["--copy-backwards", "out", "jobs.sh"]],
  ])("if %s has swallowed the script, the error says so", (flag, argv) => {
    const error = errorOf(...argv);
    expect(error.message).toBe(`which script? ${flag} has taken "jobs.sh" too`);
    expect(error.hint).toContain("put the script first: execute_batch jobs.sh");
  });

  test("no script at all", () => {
    for (const argv of [
      [],
      ["--machines", "a.yaml"],
      ["--machines", "gpu1", "gpu1.example.org"],
      ["--copy-forward", "src"],
    ]) {
      expect(errorOf(...argv).message).toBe("which script?");
    }
  });
});

describe("--env", () => {
  test("for a repeated name the last value counts; a name alone takes the value of this shell", () => {
    expect(run("--env", "A=1", "--env", "TOKEN", "--env=A=2", "--env", "EMPTY=").env).toEqual({
      A: "2",
      TOKEN: "secret",
      EMPTY: "",
    });
  });

  test("newlines are part of the value", () => {
    expect(run("--env", "A=x\ny z").env).toEqual({ A: "x\ny z" });
  });

  test("a name that is not set in this shell", () => {
    const error = errorOf("jobs.sh", "--env", "MISSING");
    expect(error.message).toBe("--env MISSING: this shell has no MISSING to pass on");
    expect(error.hint).toContain("MISSING=");
  });

  test.each([["1A=x"], ["A-B=x"], ["=x"], ["A B=x"], [""]])(
    "%j is no assignment, and its value is not shown",
    (word) => {
      const { message } = errorOf("jobs.sh", "--env", word);
      expect(message).toMatch(/^--env takes NAME=VALUE, got /);
      expect(message).not.toContain("x");
    },
  );
});

describe("bad values are reported, with a good one", () => {
  test.each([
    ["--num-cpus", "two"],
    ["--num-cpus", "-1"],
    ["--num-cpus", ""],
    ["--memory-required", "7 GPUs"],
    ["--memory-required", "1e3"],
    ["--memory-required", "99999999999"],
    ["--memory-required", "NaN"],
    ["--gpu-memory-required", "0x10"],
    ["--gpu-utilization", "75%"],
    ["--gpu-utilization", ".5"],
    ["--gpus-per-job", "0"],
    ["--gpus-per-job", "0.0"],
    ["--gpus-per-job", "0.0005"],
    ["--gpus-per-job", "-1"],
    ["--gpu-memory-total", "much"],
    ["--retries", "-1"],
    ["--retries", "many"],
    ["--timeout", "90"],
    ["--timeout", "soon"],
    ["--timeout", "0s"],
    ["--reassign-after", "10"],
    ["--max-output", "100"],
    ["--max-output", "999B"],
    ["--max-output", "0kB"],
    ["--max-output", "all"],
    ["--max-output", "-1MB"],
    ["--max-old", "-1"],
    ["--max-old", "1.5"],
    ["--max-old", "none"],
  ])("%s %s", (flag, value) => {
    for (const words of [[flag, value], [`${flag}=${value}`]]) {
      const error = errorOf("jobs.sh", ...words);
      expect(error.message).toContain(`${flag} takes a `);
      expect(error.message).toContain(`got "${value}"`);
      const example = (error.hint ?? "").replace("for example ", "").split(/[ ,]/).slice(0, 2);
      expect(() => parse(["jobs.sh", ...example])).not.toThrow();
    }
  });

  test("--rerun lists its choices", () => {
    expect(errorOf("jobs.sh", "--rerun", "some").message).toMatch(/changed.*failed.*all/);
  });

  test("a missing value", () => {
    expect(errorOf("jobs.sh", "--timeout").message).toContain("--timeout");
    expect(errorOf("jobs.sh", "--machines").message).toContain("--machines");
  });
});

describe("unknown words", () => {
  test.each([
    ["--machnies", "--machines"],
    ["--gpu-memory-requried", "--gpu-memory-required"],
    ["--dryrun", "--dry-run"],
  ])("%s: the nearest known word is suggested", (typed, meant) => {
    const error = errorOf("jobs.sh", typed);
    expect(error.message).toBe(`unknown option '${typed}'`);
    expect(error.hint).toBe(`did you mean ${meant}?`);
  });

  test.each([
    ["--rerun", "al", "all"],
    ["--notify-on", "faliure", "failure"],
    ["--host-keys", "accept_new", "accept-new"],
  ])("%s %s: the nearest choice is suggested", (option, typed, meant) => {
    const error = errorOf(
      "jobs.sh",
      option,
      typed,
      ...(option === "--notify-on" ? ["--notify", "true"] : []),
    );
    expect(error.message).toContain(`argument '${typed}' is invalid`);
    expect(error.hint).toBe(`did you mean ${meant}?`);
  });

  test.each(["", "xxxxxxxx", "'", "a' is invalid"])("--rerun %j: no choice is near", (typed) => {
    expect(errorOf("jobs.sh", "--rerun", typed).hint).toBe("execute_batch --help");
  });

  test("more than one script", () => {
    expect(errorOf("jobs.sh", "more.sh").message).toMatch(/too many arguments/);
  });

  test("after -- a script may begin with a dash", () => {
    expect(parse(["--json", "--", "--jobs.sh"])).toMatchObject({ options: { script: "--jobs.sh" } });
  });
});

describe("requests that are answered at once", () => {
  function printed(program: "execute_batch" | "sshoal", ...argv: string[]): string {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    expect(parseOptions({ program, argv, env: {} })).toEqual({ command: "answered" });
    const text = write.mock.calls.map(([words]) => String(words)).join("");
    write.mockRestore();
    return text;
  }

  test("--help lists options with their defaults, examples and exit codes", () => {
    const help = printed("execute_batch", "--help");
    expect(help).toMatch(/--memory-required <MB>.*7000/s);
    expect(help).toMatch(/--reassign-after.*10m/s);
    expect(help).toContain("Exit codes: 0");
  });

  test("--version", () => {
    expect(printed("execute_batch", "--version")).toBe("0.0.0-test\n");
    expect(printed("sshoal", "--version")).toBe("0.0.0-test\n");
  });

  test("sshoal alone, and the help of its commands", () => {
    expect(printed("sshoal")).toMatch(/Run a batch:\n {2}run \[script\] /);
    expect(printed("sshoal")).toMatch(/124 the\s+--timeout of wait is over/);
    expect(printed("sshoal", "run", "--help")).toContain("--copy-forward");
  });
});

describe("sshoal", () => {
  const sshoal = (...argv: string[]) => parseOptions({ program: "sshoal", argv, env: {} });

  test("run is the same as execute_batch", () => {
    const argv = ["jobs.sh", "--machines", "a.yaml", "--reserve"];
    expect(sshoal("run", ...argv)).toEqual({ ...parse(argv), revise: expect.any(Function) });
  });

  test("probe", () => {
    expect(sshoal("probe", "--machines", "a.yaml", "--no-gpu-required", "--json")).toMatchObject({
      command: "probe",
      options: { machines: ["a.yaml"], isJson: true, requirement: { gpu: null } },
    });
  });

  const quiet = { hostKeys: null, isJson: false, isVerbose: false, tees: false, variables: {}, notice: null };
  const server = { typed: null, byDefault: null, tokenFile: null, hostKeys: null };
  const nowhere = { machines: [], configFile: null };
  const plainLogs = {
    server,
    streams: ["out", "err"],
    follows: false,
    tail: null,
    hostKeys: null,
    isJson: false,
  } as const;

  test.each<[string[], Invocation]>([
    [
      ["status"],
      { command: "status", options: { server, batch: null, isAll: false, isJson: false, hostKeys: null } },
    ],
    [
      ["status", "b", "--json"],
      { command: "status", options: { server, batch: "b", isAll: false, isJson: true, hostKeys: null } },
    ],
    [
      ["status", "--all"],
      { command: "status", options: { server, batch: null, isAll: true, isJson: false, hostKeys: null } },
    ],
    [
      ["wait"],
      {
        command: "wait",
        options: {
          server,
          hostKeys: null,
          jobs: { words: [], states: [] },
          timeoutSeconds: null,
          isJson: false,
        },
      },
    ],
    [
      ["wait", "3-7", "b.sh", "--timeout", "1h30m", "--json"],
      {
        command: "wait",
        options: {
          server,
          hostKeys: null,
          jobs: { words: ["3-7", "b.sh"], states: [] },
          timeoutSeconds: 5400,
          isJson: true,
        },
      },
    ],
    [["logs", "3"], { command: "logs", options: { ...plainLogs, jobs: { words: ["3"], states: [] } } }],
    [
      ["logs", "-f", "x.sh.1", "--err"],
      {
        command: "logs",
        options: { ...plainLogs, jobs: { words: ["x.sh.1"], states: [] }, streams: ["err"], follows: true },
      },
    ],
    [
      ["logs", "1", "3-7", "--out", "--tail", "0", "--state", "failed,lost", "--state", "running"],
      {
        command: "logs",
        options: {
          ...plainLogs,
          jobs: { words: ["1", "3-7"], states: ["failed", "lost", "running"] },
          streams: ["out"],
          tail: 0,
        },
      },
    ],
    [
      ["logs", "3", "--json"],
      { command: "logs", options: { ...plainLogs, jobs: { words: ["3"], states: [] }, isJson: true } },
    ],
    [
      ["clean", "--dry-run"],
      {
        command: "clean",
        options: { ...nowhere, batches: [], isDryRun: true, hostKeys: null, isJson: false },
      },
    ],
    [
      ["clean", "b", "--json"],
      {
        command: "clean",
        options: { ...nowhere, batches: ["b"], isDryRun: false, hostKeys: null, isJson: true },
      },
    ],
    [
      ["attach", "b", "--machines", "a.yaml", "-F", "lab.conf"],
      {
        command: "attach",
        options: { ...quiet, batch: "b", machines: ["a.yaml"], configFile: "lab.conf", watches: false },
      },
    ],
    [
      ["attach", "-v"],
      { command: "attach", options: { ...quiet, ...nowhere, batch: null, isVerbose: true, watches: false } },
    ],
    [
      ["attach", "--watch"],
      { command: "attach", options: { ...quiet, ...nowhere, batch: null, watches: true } },
    ],
    [
      ["stop", "b", "--json"],
      {
        command: "stop",
        options: {
          server,
          hostKeys: null,
          isVerbose: false,
          isJson: true,
          jobs: { words: ["b"], states: [] },
        },
      },
    ],
    [
      ["retry", "--failed"],
      { command: "retry", options: { server, ...quiet, jobs: { words: [], states: ["failed", "lost"] } } },
    ],
    [
      ["retry", "a.1", "a.2"],
      { command: "retry", options: { server, ...quiet, jobs: { words: ["a.1", "a.2"], states: [] } } },
    ],
    [
      ["drain", "a.yaml"],
      {
        command: "drain",
        options: { server, machine: "a.yaml", machines: ["a.yaml"], hostKeys: null, isJson: false },
      },
    ],
    [
      ["undrain", "a.yaml", "--json"],
      {
        command: "undrain",
        options: { server, machine: "a.yaml", machines: ["a.yaml"], hostKeys: null, isJson: true },
      },
    ],
  ])("%j", (argv, invocation) => {
    expect(sshoal(...argv)).toEqual(invocation);
  });

  test.each([
    [["run", "jobs.sh"]],
    [["probe"]],
    [["status"]],
    [["wait"]],
    [["logs", "1"]],
    [["clean"]],
    [["attach"]],
    [["stop", "b"]],
    [["retry", "--failed"]],
    [["drain", "a"]],
  ])("%j accepts --host-keys", (argv) => {
    expect(sshoal(...argv, "--host-keys", "strict")).toMatchObject({ options: { hostKeys: "strict" } });
    expect(() => sshoal(...argv, "--host-keys", "no")).toThrow(/Allowed choices are strict, accept-new/);
  });

  test.each([[["run", "jobs.sh"]], [["probe"]], [["clean"]], [["attach", "b"]]])(
    "%j accepts -F with --machines, and not without",
    (argv) => {
      expect(sshoal(...argv, "--machines", "gpu1", "-F", "lab.conf")).toMatchObject({
        options: { machines: ["gpu1"], configFile: "lab.conf" },
      });
      expect(() => sshoal(...argv, "-F", "lab.conf")).toThrow("-F has no effect without --machines");
    },
  );

  test.each([
    [["retry"], "which jobs?"],
    [["logs"], "which jobs?"],
    [["logs", "1", "--state", "faild"], '--state takes a state of jobs, got "faild"'],
    [["logs", "1", "--tail", "-3"], "--tail takes a number <n>"],
    [["stop", "--state", ""], '--state takes a state of jobs, got ""'],
    [["run", "--machines", "a.yaml", "jobs.sh"], 'which script? --machines has taken "jobs.sh" too'],
    [["stop"], "which jobs?"],
    [["rnu", "jobs.sh"], "unknown command 'rnu'"],
    [
      ["run", "jobs.sh", "--copy", "a"],
      "--copy could mean --copy-backwards, --copy-forward, --copy-unchanged",
    ],
  ])("%j is refused: %s", (argv, said) => {
    expect(() => sshoal(...argv)).toThrow(said);
    expect(() => sshoal(...argv)).toThrow(UserError);
  });

  test.each([
    [["help", "statsu"], "unknown command 'statsu'", "did you mean status?"],
    [["help", "xxxxxxxx"], "unknown command 'xxxxxxxx'", "sshoal --help"],
    [["stop"], "which jobs?", "sshoal stop 7, sshoal stop train.sh, or sshoal stop --state running"],
    [["logs"], "which jobs?", "sshoal logs 7, sshoal logs train.sh, or sshoal logs --state failed"],
    [["help", "help"], "which command?", "sshoal --help"],
    [["--"], "which command?", "sshoal --help"],
    [["completion", "zhs"], "'zhs' is invalid", "did you mean zsh?"],
    [["completion", "tcsh"], "Allowed choices are bash, zsh, fish", "sshoal completion --help"],
  ])("%j: %s, try: %s", (argv, said, hint) => {
    const message = expect.stringContaining(said);
    expect(() => sshoal(...argv)).toThrow(expect.objectContaining({ message, hint }));
  });
});

describe("--gpus", () => {
  const gpuOf = (...argv: string[]) => run("--gpus", ...argv).requirement.gpu;

  test.each([
    ["words", ["0", "1", "2"], [0, 1, 2]],
    ["commas", ["0,1,2"], [0, 1, 2]],
    ["both", ["0,0", "1"], [0, 0, 1]],
  ])("cards as %s", (_, argv, listed) => {
    expect(gpuOf(...argv)).toMatchObject({ listed });
  });

  test.each([
    ["words with several cards", ["0,1", "2,3"], { count: 2, listed: [0, 1, 2, 3] }],
    ["a UUID", ["GPU-1a2b,1"], { count: 1, listed: ["GPU-1a2b", 1] }],
    ["words, grouped in another way", ["0,1", "2,3", "--gpus-per-job", "4"], { count: 4 }],
  ])("%s", (_, argv, expected) => {
    expect(gpuOf(...argv)).toMatchObject(expected);
  });

  test("no GPU need is derived from options that were not given", () => {
    const { requirement } = run("--gpus", "0", "1");
    expect(requirement).toMatchObject({ memoryMb: 0, gpu: { memoryMb: 0, isReserved: true } });
    const said = run("--gpus", "0", "--memory-required", "5", "--gpu-memory-required", "6").requirement;
    expect(said).toMatchObject({ memoryMb: 5, gpu: { memoryMb: 6 } });
  });

  test("a card that is listed twice is shared", () => {
    expect(gpuOf("0", "0", "1")).toMatchObject({ isReserved: false });
  });

  test.each([
    [["x"], '--gpus takes numbers or UUIDs of cards, got "x"'],
    [["0,1", "2"], "--gpus 0,1 2: jobs would get 2 or 1 cards"],
    [["0", "jobs.txt"], 'got "jobs.txt"'],
    [[","], 'got ","'],
    [["0", "1", "2", "--gpus-per-job", "2"], "cannot be split into groups of 2"],
    [["0", "--no-gpu-required"], "--gpus and --no-gpu-required contradict each other"],
    [["0", "--reserve"], "--gpus and --reserve contradict each other"],
    [["0", "--gpu-model", "A100"], "--gpus and --gpu-model contradict each other"],
    [["0", "--gpu-memory-total", "40GB"], "--gpus and --gpu-memory-total contradict each other"],
    [["0", "--gpus-per-job", "0.5"], "--gpus lists whole cards, but --gpus-per-job is 0.5"],
  ])("%j is refused", (argv, message) => {
    expect(errorOf("jobs.sh", "--gpus", ...argv).message).toContain(message);
  });
});

describe("parts of cards", () => {
  const gpuOf = (...argv: string[]) => run(...argv).requirement.gpu;

  test.each([
    [["--gpus-per-job", "0.5"], { count: 0.5, isReserved: false, utilization: 0.5 }],
    [["--gpus-per-job", "0.9"], { count: 0.9, isReserved: false, utilization: 0.75 }],
    [["--gpus-per-job", "2.5"], { count: 2.5, isReserved: true, utilization: 0.5 }],
    [["--gpus-per-job", "2"], { count: 2, isReserved: true, utilization: 0.75 }],
    [["--gpus-per-job", "0.25", "--gpu-utilization", "0.6"], { isReserved: false, utilization: 0.6 }],
    [["--gpus-per-job", "1.5", "--no-reserve-gpu"], { isReserved: false }],
  ])("%j", (argv, expected) => {
    expect(gpuOf(...argv)).toMatchObject(expected);
  });
});

describe("--require", () => {
  test("has other words for three options, of which the later counts", () => {
    const need = "{gpu: 0.5, cpu: 2, memory: 500, licence: 1}";
    expect(run("--require", need).requirement).toEqual({
      cpus: 2,
      memoryMb: 500,
      reservesMachine: false,
      gpu: { count: 0.5, memoryMb: 1000, utilization: 0.5, isReserved: false },
      resources: { licence: [1] },
    });
    expect(run("--require", need, "--num-cpus", "3").requirement.cpus).toBe(3);
    expect(run("--num-cpus", "3", "--require", need).requirement.cpus).toBe(2);
  });

  test("a mistake has its line and column", () => {
    const { message, hint } = errorOf("jobs.sh", "--require", "{a: 1,\n b 2}");
    expect(message).toContain("line 2, column 4: invalid character 'b'".slice(0, 16));
    expect(hint).toBe("for example --require '{licence: 1, nvme: 0.5}'");
  });

  test.each(["A100|", "", "|", "a\nb"])("--gpu-model %j is refused", (model) => {
    const { message, hint } = errorOf("jobs.sh", "--gpu-model", model);
    expect(message).toContain("--gpu-model takes parts of names, with | between them, got");
    expect(hint).toContain("--gpu-model 'A100|H100'");
  });
});

test("--pack and --polite say how cards are chosen", () => {
  expect(run("--pack").placing).toEqual({ packs: true });
  expect(run("--pack", "--polite").placing).toEqual({ packs: true, isPolite: true });
  expect(run("--pack", "--no-pack").placing).toEqual({});
});
