import { afterEach, describe, expect, test, vi } from "vitest";
import { shownWords } from "../../../../../src/cli/options/config/config-command.js";
import { parseOptions } from "../../../../../src/cli/options/options.js";
import { applyScriptOptions } from "../../../../../src/cli/options/script-options.js";
import { bashAt } from "../../../../../src/input/batch/ask-bash.js";
import { parseBatch } from "../../../../../src/input/batch/batch-file.js";
import { mistakesOf, parseWith, runWith, type Texts } from "./a-config.js";

afterEach(() => {
  vi.restoreAllMocks();
});

/** With a batch file that has these `#@` words. */
async function runScript(texts: Texts, lines: string, ...argv: string[]) {
  const invocation = parseWith(texts, ["run", "jobs.sh", ...argv]);
  if (invocation.command !== "run") throw new Error(`it is ${invocation.command}`);
  const batch = await parseBatch(`#@ ${lines}\n\ntrue\n`, "jobs.sh", bashAt("bash"));
  return applyScriptOptions(batch, invocation.revise, {}).options;
}

describe("a value", () => {
  const user = "num-cpus: 2\nretries: 7\ntimeout: 1h\nmemory-required: 1GB\n";
  const project = "retries: 6\ntimeout: 2h\nmemory-required: 2GB\n";

  test("of the command line takes precedence over #@, project and user, in this order", async () => {
    const script = "--timeout 3h --memory-required 3GB";
    const { requirement, policy, timeoutSeconds } = await runScript(
      { user, project },
      script,
      "--memory-required",
      "4GB",
    );
    expect({ ...requirement, retries: policy.retries, timeoutSeconds }).toMatchObject({
      cpus: 2,
      retries: 6,
      timeoutSeconds: 3 * 3600,
      memoryMb: 4096,
    });
  });

  test("is the built-in one without a file", () => {
    expect(runWith({}).requirement).toMatchObject({ cpus: 1, memoryMb: 7000 });
  });

  test("of a section takes precedence in its file, and a project over every section of the user", () => {
    const sections = { user: "timeout: 1h\nrun: {timeout: 2h, retries: 5}\nretries: 1\n" };
    expect(runWith(sections)).toMatchObject({ timeoutSeconds: 7200, policy: { retries: 5 } });
    expect(runWith({ ...sections, project: "timeout: 3h\n" })).toMatchObject({ timeoutSeconds: 3 * 3600 });
  });

  test("of a section is for its command alone", () => {
    const texts = { user: "logs: {tail: 7}\nprobe: {num-cpus: 3}\nstatus: {json: true}\n" };
    expect(parseWith(texts, ["logs", "1"])).toMatchObject({ options: { tail: 7 } });
    expect(parseWith(texts, ["status"])).toMatchObject({ options: { isJson: true } });
    expect(parseWith(texts, ["probe"])).toMatchObject({
      options: { requirement: { cpus: 3 }, isJson: false },
    });
    expect(runWith(texts).requirement.cpus).toBe(1);
  });

  test("of the section run is for execute_batch, too", () => {
    const texts = { user: "run: {timeout: 1h}\n" };
    const invocation = parseWith(texts, ["jobs.sh"], { program: "execute_batch" });
    expect(invocation).toMatchObject({ command: "run", options: { timeoutSeconds: 3600 } });
  });
});

describe("variables", () => {
  const texts = {
    user: "env: {A: user, B: user, C: user, D: user}\n",
    project: "env: [B=project, C=project, D]\n",
  };

  test("of all levels add up", async () => {
    const invocation = parseWith(texts, ["run", "jobs.sh", "--env", "D=typed"], { env: { D: "shell" } });
    if (invocation.command !== "run") throw new Error("it is no run");
    const batch = await parseBatch("#@ --env C=script --env D=script\n\ntrue\n", "jobs.sh", bashAt("bash"));
    const { options } = applyScriptOptions(batch, invocation.revise, {});
    expect(options.env).toEqual({ A: "user", B: "project", C: "script", D: "typed" });
  });

  test("that this shell does not have are a mistake for commands that pass them on", () => {
    expect(mistakesOf(texts, ["run", "jobs.sh"])).toEqual([
      "/work/p/.sshoal.yaml:1:1: --env D: this shell has no D to pass on (export D=…, or --env D=VALUE)",
    ]);
    expect(mistakesOf(texts, ["status"])).toEqual([]);
    expect(mistakesOf(texts, ["run", "jobs.sh", "--env", "D=1"])).toEqual([]);
  });
});

describe("what a file sets can be undone", () => {
  const user =
    "machines: [gpu1]\nno-gpu-required: true\ntee: true\ntimeout: 1h\nexclude: [a, b]\ngpus-per-job: 2\n";

  test("on the command line", () => {
    const options = runWith(
      { user },
      "--no-machines",
      "--gpu-required",
      "--no-tee",
      "--no-timeout",
      "--no-exclude",
    );
    expect(options).toMatchObject({ machines: [], tees: false, timeoutSeconds: null, exclude: [] });
    expect(options.requirement.gpu).toMatchObject({ count: 2 });
  });

  test("by a project, in either spelling", () => {
    const [one, other] = [
      "gpu-required: true\ntee: false\nno-timeout: true\nno-machines: true\n",
      "no-gpu-required: false\nno-tee: true\nno-timeout: true\nno-machines: true\n",
    ];
    for (const project of [one, other]) {
      const options = runWith({ user, project });
      expect(options).toMatchObject({ machines: [], tees: false, timeoutSeconds: null });
      expect(options.requirement.gpu).not.toBeNull();
    }
  });

  test("by the batch file", async () => {
    const options = await runScript({ user }, "--gpu-required --no-machines --no-timeout");
    expect(options).toMatchObject({ machines: [], tees: true, timeoutSeconds: null, exclude: ["a", "b"] });
    expect(options.requirement.gpu).not.toBeNull();
  });
});

test("every option that a help text lists is a key, but for those that say what a command is for", () => {
  const keys = new Set<string>();
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const help = (...argv: string[]): string => {
    write.mockClear();
    parseOptions({ program: "sshoal", argv: [...argv, "--help"], env: {} });
    return write.mock.calls.join("");
  };
  const commands = [...help().matchAll(/^ {2}([a-z]+) .*[A-Z]/gm)].map(([, name = ""]) => name);
  expect(commands).toEqual(expect.arrayContaining(["run", "probe", "logs", "sweep", "config"]));
  const lines = commands
    .filter((name) => name !== "help")
    .flatMap((name) => {
      const listed = [...help(name).matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(([, key = ""]) => key);
      const own = listed.filter((key) => key !== "help");
      for (const key of own) keys.add(key);
      return [`${name}:`, ...own.map((key) => `  ${key}: "1"`)];
    });
  write.mockRestore();
  expect(keys.size).toBeGreaterThan(30);
  const mistakes = mistakesOf({ user: `${lines.join("\n")}\n` });
  expect(mistakes.filter((mistake) => /unknown|has no option/.test(mistake))).toEqual([]);
  const refused = mistakes.flatMap((mistake) => /: (\S+) cannot be set in a file/.exec(mistake)?.[1] ?? []);
  expect(new Set(refused)).toEqual(
    new Set([
      ..."follow parameter state failed machines max-old here timeout".split(" "),
      ..."after after-any after-fail copy-backwards copy-forward enqueue hold name notify out".split(" "),
    ]),
  );
  const forAll = mistakesOf({ user: [...keys].map((key) => `${key}: "1"\n`).join("") });
  const ambiguous = forAll.flatMap((mistake) => /: (\S+) does not mean the same/.exec(mistake)?.[1] ?? []);
  expect(ambiguous).toEqual(["follow", "out"]);
});

describe("kinds of values", () => {
  test.each([
    ["a list", "copy-forward: [src, data]", { copyForward: ["src", "data"] }],
    ["a list of one value", "copy-forward: src", { copyForward: ["src"] }],
    ["an empty list: nothing", "copy-forward: []", { copyForward: [] }],
    ["a value that begins with a dash", "exclude: [-x]", { exclude: ["-x"] }],
    ["an option that may be repeated", "exclude: ['*.ckpt', my dir/]", { exclude: ["*.ckpt", "my dir/"] }],
    ["a word of a choice", "host-keys: strict", { hostKeys: "strict" }],
    ["a word that YAML knows otherwise", "reassign-after: never\nhalt: 0", { policy: { halt: null } }],
    ["a key in quotes", '"num-cpus": "2.5"', { requirement: { cpus: 2.5 } }],
  ])("%s", (_, text, options) => {
    expect(runWith({ user: `${text}\n` })).toMatchObject(options);
  });

  test("a file without settings is fine", () => {
    for (const user of ["", "# nothing yet\n\n", "{}\n"]) expect(mistakesOf({ user })).toEqual([]);
  });
});

describe("machines", () => {
  test("hold for every command that takes them, but attach goes on where the batch is", () => {
    const texts = { user: "machines: [gpu1, gpu2]\nF: lab.conf\n" };
    const machines = ["gpu1", "gpu2"];
    const configFile = "/home/ada/.config/sshoal/lab.conf";
    for (const argv of [["probe"], ["doctor"], ["clean"], ["run", "jobs.sh"]])
      expect(parseWith(texts, argv)).toMatchObject({ options: { machines, configFile } });
    expect(parseWith(texts, ["attach"])).toMatchObject({ options: { machines: [] } });
    expect(parseWith(texts, ["attach", "b", "--machines", "gpu3"])).toMatchObject({
      options: { machines: ["gpu3"], configFile },
    });
  });

  test("-F of a file is no mistake for a command without machines", () => {
    const texts = { user: "F: ~/lab.conf\n" };
    expect(runWith(texts)).toMatchObject({ machines: [], configFile: "~/lab.conf" });
    expect(runWith(texts, "--machines", "a", "-F", "none")).toMatchObject({ configFile: "none" });
  });
});

describe("groups", () => {
  const user = 'groups: {lab: [gpu1, gpu2], all: ["@lab", gpu3], one: gpu9}\n';

  test("on the command line, in lists and for other commands", () => {
    expect(runWith({ user }, "--machines", "@lab").machines).toEqual(["gpu1", "gpu2"]);
    expect(runWith({ user }, "--machines", "@lab,gpu7", "@one").machines).toEqual([
      "gpu1",
      "gpu2",
      "gpu7",
      "gpu9",
    ]);
    expect(parseWith({ user }, ["probe", "--machines", "@all", "@lab"])).toMatchObject({
      options: { machines: ["gpu1", "gpu2", "gpu3"] },
    });
    expect(parseWith({ user }, ["drain", "@lab"])).toMatchObject({
      options: { machine: "@lab", machines: ["gpu1", "gpu2"] },
    });
  });

  test("in #@ lines and in files", async () => {
    expect((await runScript({ user }, "--machines @lab")).machines).toEqual(["gpu1", "gpu2"]);
    expect(runWith({ user, project: 'machines: ["@one"]\n' }).machines).toEqual(["gpu9"]);
  });

  test("of a project replace those of the user, also within other groups", () => {
    const project = "groups: {lab: [titan]}\n";
    expect(runWith({ user, project }, "--machines", "@all").machines).toEqual(["titan", "gpu3"]);
  });

  test("that are not there: the nearest, and where it is", () => {
    const unknown = (texts: Texts) => mistakesOf(texts, ["probe", "--machines", "@lba"]);
    expect(unknown({ user })).toEqual(["there is no group @lba"]);
    expect(() => runWith({ user }, "--machines", "@lba")).toThrow(
      expect.objectContaining({
        hint: "did you mean @lab, defined in /home/ada/.config/sshoal/config.yaml:1:10?",
      }),
    );
    expect(() => runWith({}, "--machines", "@lba")).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("define it below groups:") }),
    );
  });
});

test("programs with defaults of their own take only how machines are reached", () => {
  const texts = {
    user: "host-keys: strict\nF: none\nmemory-required: 5\nmachines: [gpu1]\ncopy-forward: [a]\ntee: true\n",
  };
  const scheduler = parseWith(texts, ["--gpus", "0"], { program: "simple_gpu_scheduler" });
  expect(scheduler).toMatchObject({
    options: { hostKeys: "strict", machines: [], copyForward: null, requirement: { memoryMb: 0 } },
  });
  const remote = parseWith(texts, ["true", "--machine", "m"], { program: "execute_remote" });
  expect(remote).toMatchObject({ options: { hostKeys: "strict", configFile: "none", copyForward: [] } });
});

test("execute_remote takes one machine, no group", () => {
  const argv = ["true", "--machine", "@lab"];
  expect(mistakesOf({ user: "groups: {lab: [gpu1]}\n" }, argv, { program: "execute_remote" })).toEqual([
    "execute_remote takes one machine, no group: @lab",
  ]);
});

test("simple_hypersearch connects to no machine, and reads no file", () => {
  const argv = ["echo {a}", "-p", "a", "1"];
  expect(mistakesOf({ user: "x: 1\n" }, argv, { program: "simple_hypersearch" })).toEqual([]);
});

test("a sweep file takes precedence over a configuration file", () => {
  const texts = { user: "sweep: {seed: 3, n-samples: 5, sampling-mode: grid}\n" };
  const byDefault = { seed: 3, samples: 5, samplingMode: "grid" };
  const left = { seed: null, samples: null, samplingMode: null };
  expect(parseWith(texts, ["sweep", "sweep.yaml"])).toMatchObject({ options: { ...left, byDefault } });
  expect(parseWith(texts, ["sweep", "sweep.yaml", "--seed", "4"])).toMatchObject({
    options: { ...left, seed: 4 },
  });
});

test("what a file sets is not taken for words that --copy-forward has swallowed", () => {
  expect(mistakesOf({ user: "copy-forward: [a, b]\n" }, ["run"])).toEqual(["which script?"]);
});

test("sshoal config hides what may be a secret", () => {
  const shown = (user: string) => {
    const invocation = parseWith({ user }, ["config"]);
    if (invocation.command !== "config") throw new Error(`it is ${invocation.command}`);
    return invocation.options.settings.map((setting) => [setting.key, ...shownWords(setting)]);
  };
  expect(shown("notify: curl https://example.org/s3cret\nnotify-on: failure\n")).toEqual([
    ["notify", "(hidden)"],
    ["notify-on", "failure"],
  ]);
  expect(shown("notify: ''\nenv: {TOKEN: s3cret}\n")).toEqual([["notify"], ["env", "TOKEN"]]);
});

test("completion works although a file is broken", () => {
  const broken = { user: "timeout: [\n" };
  expect(parseWith(broken, ["completion", "bash"])).toMatchObject({ command: "completion" });
  expect(parseWith(broken, ["complete-words", "machines"])).toMatchObject({ command: "complete-words" });
});

test("help answers although a file is broken; commands do not start", () => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const broken = { user: "timeout: [\n" };
  for (const argv of [["--help"], ["run", "--help"], ["--version"], []])
    expect(parseWith(broken, argv)).toEqual({ command: "answered" });
  expect(mistakesOf(broken)).toHaveLength(1);
});

describe("require, as a mapping or as text", () => {
  test.each([
    "require: {licence: 1, nvme: [1, 0.5], cpu: 2}",
    "require: '{licence: 1, nvme: [1, .5], cpus: 2}'",
  ])("%s", (user) => {
    const { requirement } = runWith({ user });
    expect(requirement).toMatchObject({ cpus: 2, resources: { licence: [1], nvme: [1, 0.5] } });
    expect(runWith({ user }, "--num-cpus", "3").requirement.cpus).toBe(3);
    expect(runWith({ user }, "--no-require").requirement).not.toHaveProperty("resources");
    expect(runWith({ user, project: "num-cpus: 4" }).requirement.cpus).toBe(4);
  });

  test("a mistake has its place in the file", () => {
    expect(mistakesOf({ project: "tee: true\nrequire: {nvme: [1, much]}\n" }, ["run", "jobs.sh"])).toEqual([
      expect.stringMatching(
        /^\/work\/p\/\.sshoal\.yaml:2:10: --require nvme is "\\"much\\"": an amount is a number/,
      ),
    ]);
  });
});
