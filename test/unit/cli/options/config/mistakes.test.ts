import { describe, expect, test, vi } from "vitest";
import { withOrigins } from "../../../../../src/cli/options/config/origins.js";
import { parseOptions } from "../../../../../src/cli/options/options.js";
import { problemsError, UserError } from "../../../../../src/errors.js";
import { loadMachines } from "../../../../../src/input/machine/load-machines.js";
import { errorOf as inputErrorOf, makeInputBox } from "../../../input/input-box.js";
import { aConfig, mistakesOf } from "./a-config.js";

const USER = "/home/ada/.config/sshoal/config.yaml";
const PROJECT = "/work/p/.sshoal.yaml";

describe("each mistake has its place", () => {
  test.each([
    ["memory-requird: 1", '1:1: unknown key "memory-requird" (did you mean memory-required?)'],
    ["x: 1", '1:1: unknown key "x" (a key is an option without its dashes: sshoal run --help)'],
    ["# a\n--timeout: 1h", '2:1: unknown key "--timeout" (did you mean timeout?)'],
    [
      "timeout: 1",
      '1:10: --timeout takes a duration with a unit, got "1" (for example timeout: 90s, 10m or 1h30m)',
    ],
    ["timeout:", "1:9: timeout must be text, got nothing"],
    ["timeout: [1h, 2h]", "1:10: timeout takes one value, got a list"],
    ["timeout: {a: 1}", "1:10: timeout must be text, got a mapping"],
    ["timeout: 1h\ntimeout: 2h", "2:1: timeout is given twice (keep one)"],
    [
      "host-keys: maybe",
      "1:12: option '--host-keys <policy>' argument 'maybe' is invalid. Allowed choices are strict, accept-new.",
    ],
    ["tee: yes", '1:6: tee must be true or false, got "yes"'],
    ["no-timeout: false", '1:13: no-timeout must be true, or left out, got "false"'],
    [
      "gpu-required: false\nno-gpu-required: true",
      "2:1: no-gpu-required is the same option as gpu-required (keep one)",
    ],
    ["machines: gpu1 gpu2", "1:11: machines: several values are a list ([gpu1, gpu2])"],
    ["machines: gpu1, gpu2", "1:11: machines: several values are a list ([gpu1, gpu2])"],
    ["machines: '@lap'\ngroups: {lab: [a]}", "1:1: there is no group @lap (did you mean @lab?)"],
    ["probe: {machines: [a, '@lab']}", "1:9: there is no group @lab (define it below groups:)"],
    ["execute_batch: {timeout: 1h}", '1:1: unknown key "execute_batch" (write run: instead)'],
    ["groups:\n  lab: gpu1, gpu2", "2:8: group lab: several machines are a list (lab: [gpu1, gpu2])"],
    ["machines: []", "1:11: machines is empty (leave it out, or write machines: with a value)"],
    ["env: {a-b: secret}", '1:12: --env takes NAME=VALUE, got "a-b" (for example --env SEED=1)'],
    ["env: {A: [secret]}", "1:10: env A must be text, got a list"],
    [
      "follow: true",
      "1:1: follow does not mean the same for sshoal run and sshoal logs (write it into a section: logs: {follow: …})",
    ],
    [
      "run: {follow: a}",
      "1:7: follow cannot be set in a file: it names what to run (type it on the command line)",
    ],
    [
      "state: failed",
      "1:1: state cannot be set in a file: it chooses the jobs that the command is for (type it on the command line)",
    ],
    ["logs: {timeout: 1h}", "1:8: sshoal logs has no option timeout (move it out of the section)"],
    ["logs: {tial: 1}", '1:8: unknown key "tial" (did you mean tail?)'],
    ["logs: {tail: x}", '1:14: --tail takes a number <n>, got "x" (for example tail: 2)'],
    ["logs: 5", '1:7: logs is a command: it must hold options, such as logs: {json: true}, got "5"'],
    ["groups: [a]", "1:9: groups must hold names and machines, such as lab: [gpu1, gpu2], got a list"],
    ["groups: {lab: []}", "1:15: group lab has no machines (name at least one)"],
    ["groups: {lab: }", "1:15: each machine of group lab must be text, got nothing"],
    [
      "groups: {'@lab': [a]}",
      '1:10: "@lab" cannot be the name of a group: letters, digits, - _ and . only (the @ is only for where the group is used)',
    ],
    ["groups: {lab: [a, '@lba']}", "1:19: there is no group @lba (did you mean @lab?)"],
    ["groups: {a: ['@a']}", "1:14: the group contains itself: @a -> @a (remove one of them)"],
    [
      "groups:\n  a: ['@b', x]\n  b: ['@c']\n  c: ['@a']",
      "4:7: the group contains itself: @a -> @b -> @c -> @a (remove one of them)",
    ],
    ["- a", "1:1: expected lines of the form key: value (write lines such as machines: [gpu1, gpu2])"],
    ["machines: [@lab]", "1:12: a value cannot begin with @ (quote it)"],
    [
      "timeout: *x",
      '1:10: "*x" refers to another value, which is not supported here (quote it, or write the value out)',
    ],
  ])("%s", (user, mistake) => {
    expect(mistakesOf({ user: `${user}\n` })).toEqual([`${USER}:${mistake}`]);
  });
});

test("all mistakes of both files are reported at once, in the order of the files", () => {
  const user = "timeout: 1\nlogs: {tail: x}\n";
  expect(
    mistakesOf({ user, project: "groups: {lab: []}\nx: 1\n" }).map((line) => line.split(": ")[0]),
  ).toEqual([`${USER}:1:10`, `${USER}:2:14`, `${PROJECT}:1:15`, `${PROJECT}:2:1`]);
  expect(mistakesOf({ user: "a: [\n", project: "x: 1\n" })).toHaveLength(2);
});

test("no mistake shows the value of a variable", () => {
  const user = "env: {A: [secret1], b-c: secret2, D: {e: secret3}}\ntimeout: x\n";
  const text = mistakesOf({ user }).join("\n");
  expect(text).toContain("env A must be text");
  expect(text).not.toContain("secret");
});

describe("an error about an option names the file that sets it, and how to undo it", () => {
  function errorOf(user: string, ...argv: string[]): unknown {
    let applied: Parameters<typeof withOrigins>[1] = { settings: [], groups: new Map() };
    const onConfig = (given: typeof applied) => {
      applied = given;
    };
    try {
      parseOptions({ program: "sshoal", argv, env: {}, config: aConfig({ user }), onConfig });
    } catch (error) {
      return withOrigins(error, applied);
    }
    return withOrigins(new Error("none"), applied);
  }

  function appliedBy(user: string, ...argv: string[]): Parameters<typeof withOrigins>[1] {
    const onConfig = vi.fn<(applied: Parameters<typeof withOrigins>[1]) => void>();
    parseOptions({ program: "sshoal", argv, env: {}, config: aConfig({ user }), onConfig });
    return onConfig.mock.lastCall?.[0] ?? { settings: [], groups: new Map() };
  }

  test("one that contradicts the command line", () => {
    expect(errorOf("no-gpu-required: true\n", "run", "jobs.sh", "--gpus", "0")).toMatchObject({
      message: `--gpus and --no-gpu-required contradict each other; --no-gpu-required is set in ${USER}:1:1`,
      hint: "leave one of them out, or add --gpu-required",
    });
    expect(errorOf("results: {csv: true}\n", "results", "--json")).toMatchObject({
      message: `--csv and --json: one at a time; --csv is set in ${USER}:1:11`,
      hint: "sshoal results --csv, or add --no-csv",
    });
  });

  test("one whose value is only read with the rest", () => {
    expect(errorOf("gpus: [x]\n", "run", "jobs.sh")).toMatchObject({
      message: `--gpus takes numbers or UUIDs of cards, got "x"; --gpus is set in ${USER}:1:1`,
    });
  });

  test("an error about what was typed stays as it is", () => {
    expect(errorOf("gpus: [0]\n", "run", "jobs.sh", "--timeout", "x")).toMatchObject({
      message: '--timeout takes a duration with a unit, got "x"',
    });
    expect(errorOf("env: {A: 1}\n", "run", "jobs.sh", "--env", "1x=2")).toMatchObject({
      message: '--env takes NAME=VALUE, got "1x"',
    });
  });

  test("a machine that is not there", () => {
    const place = { file: "f", line: 2, column: 3 };
    const groups = new Map([["lab", { place, machines: ["gpu1"] }]]);
    const problems = [
      { where: "gpu1", message: "no host" },
      { where: "gpu2", message: "no host" },
    ];
    expect(withOrigins(problemsError(problems), { settings: [], groups })).toMatchObject({
      message: "gpu1: no host; @lab has it, see f:2:3\ngpu2: no host",
    });
  });

  test("a group without its @", async () => {
    const box = await makeInputBox();
    const { cwd, homeDir } = box;
    const groups = new Map([["lab", { place: { file: "f", line: 2, column: 3 }, machines: ["gpu1"] }]]);
    const context = { cwd, homeDir, configFile: null, knowsHost: async () => false };
    const hintFor = async (...names: string[]) =>
      withOrigins(await inputErrorOf(loadMachines(names, context)), { settings: [], groups });
    try {
      expect(await hintFor("lab")).toMatchObject({ problems: [{ hint: "did you mean @lab?" }] });
      expect(await hintFor("bal")).toMatchObject({ problems: [{ hint: "check it with: ssh bal" }] });
      await box.write("project/lab/gpu1.yaml", "ip: a\n");
      expect(await hintFor("lab")).toMatchObject({ problems: [{ hint: "did you mean @lab?" }] });
    } finally {
      await box.remove();
    }
  });

  test("a mistake in a #@ line stays as it is, although a file sets the same option", () => {
    const { settings, groups } = appliedBy("timeout: 1h\n", "run", "jobs.sh");
    expect(settings.map(({ key }) => key)).toEqual(["timeout"]);
    const error = problemsError([{ where: "jobs.sh:1", message: '--timeout takes a duration, got "5"' }]);
    expect(withOrigins(error, { settings, groups })).toBe(error);
  });

  test("an error that is none of the user's", () => {
    const bug = new TypeError("--gpus");
    expect(withOrigins(bug, { settings: [], groups: new Map() })).toBe(bug);
    for (const error of [new UserError("x"), problemsError([{ where: "a:1", message: "x" }])])
      expect(withOrigins(error, { settings: [], groups: new Map() })).toBe(error);
  });
});

test.each(["server: tcp://lab:7500", "token-file: token", "show: {server: 'tcp://lab:7500'}"])(
  "the file of a project cannot say where the token is sent: %s",
  (text) => {
    expect(mistakesOf({ project: text }, ["show"])).toEqual([
      expect.stringContaining("the file of a project cannot say where your token is sent"),
    ]);
    expect(mistakesOf({ user: text }, ["show"])).toEqual([]);
    expect(mistakesOf({ project: "server: ada@lab" }, ["show"])).toEqual([]);
  },
);
