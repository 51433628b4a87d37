// Errors with `--json`: one object per mistake on stdout, whatever it is that cannot be done, and the text on stderr as always.

import { expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents } from "../rig/batch.js";
import { type CommandOptions, runCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";

const own = useOwnHome();

type Programs = NonNullable<CommandOptions["program"]>;

async function ask(program: Programs, args: readonly string[]) {
  const options = { program, cwd: own.work.dir, home: own.home.dir };
  const [text, json] = [
    await runCommand(args, options),
    await runCommand([...args, "--json"], { ...options, program }),
  ];
  expect(text.stdout).toBe("");
  expect(json).toMatchObject({ code: text.code, stderr: text.stderr });
  return { code: json.code, stderr: json.stderr, objects: parseEvents(json.stdout) };
}

test.each<[string, Programs, string[], object]>([
  [
    "an unknown command",
    "sshoal",
    ["staus"],
    { message: "unknown command 'staus'", hint: "did you mean status?" },
  ],
  ["an unknown option", "execute-batch", ["x.sh", "--jobs"], { message: "unknown option '--jobs'" }],
  ["a bad value", "sshoal", ["logs", "1", "--tail", "x"], { message: expect.stringContaining("--tail") }],
  ["no command", "execute-remote", ["--machine", "m"], { message: "which command?" }],
  ["an ambiguous option", "sshoal", ["run", "x.sh", "--re"], { hint: "write it out" }],
  ["a missing word", "sshoal", ["stop"], { message: "which jobs?" }],
  [
    "a missing script",
    "execute-batch",
    ["no.sh"],
    { message: "no.sh: there is no such script", where: null },
  ],
  [
    "a directory for a machine",
    "sshoal",
    ["probe", "--machines", "dir"],
    { where: "dir", message: expect.any(String) },
  ],
  ["no batch", "sshoal", ["status", "b"], { message: expect.stringContaining("no batch") }],
  ["an unused parameter", "simple-hypersearch", ["x", "-p", "a", "1"], { where: "-p a" }],
  ["no GPUs", "simple-gpu-scheduler", [], { message: "which GPUs?" }],
])("an error: %s", async (_, program, args, expected) => {
  await own.work.write("dir/file", "");
  const { code, stderr, objects } = await ask(program, args);
  expect(objects).toMatchObject([{ v: 2, kind: "error", at: expect.any(Number), exitCode: 2, ...expected }]);
  expect(code).toBe(2);
  expect(stderr).toContain(`error: `);
});

test("a script with several mistakes: an object for each, with its line", async () => {
  await own.work.write("jobs.sh", "echo a; )\n#@ --num-cpus x\necho b\necho c; fi\n");
  const { objects, stderr } = await ask("execute-batch", ["jobs.sh", ...LIGHT_NO_GPU]);
  expect(objects.map(({ where }) => where)).toEqual(["jobs.sh:1", "jobs.sh:4"]);
  for (const { where, message } of objects) expect(stderr).toContain(`error: ${where}: ${message}\n`);
});

test("a machine file with several mistakes: each with line and column", async () => {
  const file = await own.work.write("box.yaml", "ip: 127.0.0.1\nport: x\nmax_jobs: -1\n");
  const { objects } = await ask("sshoal", ["probe", "--machines", file]);
  expect(objects.map(({ where }) => where)).toEqual([`${file}:2:7`, `${file}:3:11`]);
});

test("a bug: what to report is on stderr", async () => {
  await own.work.write("job_results/.sshoal/jobs.sh.jsonl", '{"v":2,"kind":"run-started","at":1}\n');
  const { code, objects, stderr } = await ask("sshoal", ["status"]);
  expect(code).toBe(70);
  expect(objects).toMatchObject([
    { kind: "error", exitCode: 70, message: expect.stringMatching(/^sshoal has a bug: ./), where: null },
  ]);
  expect(stderr).toContain("please report it");
});

test("an error that comes after events is the last line", async () => {
  await own.work.write("jobs.sh", "cat big\n");
  await own.work.write("big", Buffer.alloc(3_000_000, "x"));
  const args = ["jobs.sh", ...LIGHT_NO_GPU, "--copy-forward", "big", "--max-send", "1MB", "--json"];
  const { code, stdout, stderr } = await runCommand(args, { cwd: own.work.dir, home: own.home.dir });
  const objects = parseEvents(stdout);
  expect(objects[0]).toMatchObject({ kind: "run-started" });
  expect(objects.at(-1)).toMatchObject({
    kind: "error",
    message: expect.stringContaining("--max-send 1 MB"),
  });
  expect([code, stderr]).toEqual([2, expect.stringContaining("error: ")]);
});

test("after -- the word is not an option: the error is text alone", async () => {
  const { code, stdout } = await runCommand(["--bogus", "--", "--json"], {
    cwd: own.work.dir,
    home: own.home.dir,
  });
  expect([code, stdout]).toEqual([2, ""]);
});
