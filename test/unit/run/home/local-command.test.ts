import { existsSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runLocalCommand } from "../../../../src/run/home/local-command.js";
import { commandOf, pidsWithHome } from "../../../rig/processes.js";
import { until } from "../../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let giving: AbortController;
beforeEach(async () => {
  work = await makeWorkspace();
  giving = new AbortController();
});
afterEach(() => work.remove());

const run = (line: string, limitMs = 60_000) =>
  runLocalCommand({
    line,
    cwd: work.dir,
    env: { PATH: process.env.PATH, HOME: work.dir, FACT: "yes" },
    limitMs,
    signal: giving.signal,
  });

test("it is run by sh, in the directory, with the environment and an empty stdin", async () => {
  const line = 'echo "$FACT $(pwd)" > out\nif read -r x; then echo "$x" > in; fi\n(exit 0)';
  expect(await run(line)).toMatchObject({ problem: null });
  expect(await work.read("out")).toBe(`yes ${work.dir}\n`);
  expect(existsSync(work.path("in"))).toBe(false);
});

test.each([
  ["exit 7", "exit code 7"],
  ["kill -TERM $$", "SIGTERM"],
  ["if", "exit code 2"],
  ["no-such-program", "exit code 127"],
])("%s is a problem", async (line, problem) => {
  expect((await run(line)).problem).toBe(problem);
});

test("what it prints is kept, within bounds", async () => {
  expect((await run("echo out; echo err >&2; exit 1")).output.toString()).toBe("out\nerr\n");
  const { output } = await run("head -c 1000000 /dev/zero; exit 1");
  expect(output.length).toBe(64 * 1024);
});

test("one that takes too long ends with all its processes", async () => {
  const { problem } = await run("sleep 1000 & sleep 1000", 300);
  expect(problem).toBe("it took longer than 0.3s");
  await until("no process is left", () => pidsWithHome(work.dir).length === 0);
});

test("it can be interrupted, also before it begins", async () => {
  const running = run("true > began; sleep 1000");
  await until("it runs", () => existsSync(work.path("began")));
  giving.abort();
  expect((await running).problem).toBe("it was interrupted");
  expect((await run("sleep 1000")).problem).toBe("it was interrupted");
});

test("what it leaves in the background is not waited for", async () => {
  expect(await run("sleep 1000 & echo $! > pid")).toMatchObject({ problem: null });
  process.kill(Number(readFileSync(work.path("pid"), "utf8")), "SIGKILL");
});

test("the line is in no list of processes", async () => {
  const running = run(": secret-word; true > began; until [ -e go ]; do sleep 0.05; done");
  await until("it runs", () => existsSync(work.path("began")));
  const lists = pidsWithHome(work.dir).map(commandOf);
  expect(lists.length).toBeGreaterThan(0);
  expect(lists.join("")).not.toContain("secret-word");
  await work.write("go", "");
  expect((await running).problem).toBe(null);
});

test("a directory that is gone is a problem, not a crash", async () => {
  const gone = { line: "true", cwd: work.path("gone"), env: {}, limitMs: 1000, signal: giving.signal };
  expect((await runLocalCommand(gone)).problem).toMatch(/ENOENT/);
});
