// A job with its own name and paths: what it starts with, what is collected, and its name.

import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  EMPTY_SPOOL,
  LIGHT_NO_GPU,
  listBelow,
  listSpool,
  listTrees,
  parseEvents,
  waitFor,
} from "../rig/batch.js";
import { type CommandResult, runCommand, spawnCommand } from "../rig/command.js";
import { type BatchHost, startHost } from "../rig/host.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: BatchHost;
let work: Workspace;
let machines: string[];

beforeAll(async () => {
  host = await startHost({ name: "box" });
});
beforeEach(async () => {
  work = await makeWorkspace({ "a.txt": "a\n", "b/b.txt": "b\n", "c.py": "", "d.py": "" });
  machines = ["--machines", await host.machineFile("max_jobs: 1")];
});
afterEach(() => work.remove());
afterAll(() => host?.stop());

async function run(lines: readonly string[], ...more: string[]): Promise<CommandResult> {
  await work.write("train.sh", lines.map((line) => `${line}\n`).join(""));
  return runCommand(["train.sh", ...LIGHT_NO_GPU, ...more], { cwd: work.dir });
}

function sshoal(...args: string[]): Promise<CommandResult> {
  return runCommand(args, { cwd: work.dir, program: "sshoal" });
}

const printed = (name: string) => readFileSync(work.path("job_results", `train.sh.${name}.out`), "utf8");
const came = (name: string) => listBelow(work.path("job_results", `train.sh.${name}`));
const FIND = "find . -type f | sort | tr '\\n' ' '";

describe("#@ --name, --copy-forward and --copy-backwards for one job", () => {
  test("each job starts with its own paths, and its own are collected", async () => {
    const make = `${FIND}; mkdir -p out; echo 1 > out/one; echo 2 > two`;
    const trees = listTrees(`${host.homeDir}/.sshoal`);
    const { code, stdout, stderr } = await run(
      [
        "#@ --name prepare --copy-forward b --copy-backwards out",
        `${make}; : first`,
        `${make}; : second`,
        "#@ --copy-forward '?.py' --copy-backwards two none",
        `${make}; : third`,
        "#@ --copy-forward b",
        "#@ --name last.1 --copy-backwards",
        `${make}; : fourth`,
        "#@ --copy-forward",
        `${make}; : fifth`,
      ],
      ...machines,
    );
    expect([code, stdout], stderr).toEqual([0, expect.stringContaining("5 succeeded")]);
    expect(printed("prepare")).toBe("./b/b.txt ");
    expect(came("prepare")).toEqual(["out/", "out/one"]);
    expect(printed("3")).toBe("./a.txt ./b/b.txt ./c.py ./d.py ./train.sh ");
    expect(came("3")).toEqual(["out/", "out/one", "two"]);
    expect(printed("5")).toBe("./c.py ./d.py ");
    expect(came("5")).toEqual(["two"]);
    expect(printed("last.1")).toBe("./b/b.txt ");
    expect(came("last.1")).toEqual([]);
    expect(printed("10")).toBe("");
    expect(came("10")).toEqual(["out/", "out/one", "two"]);
    // The first and the fourth job have the same tree, and the last has none.
    expect(listTrees(`${host.homeDir}/.sshoal`).length - trees.length).toBe(3);
    expect(listSpool(`${host.homeDir}/.sshoal`)).toEqual(EMPTY_SPOOL);
  });

  test("if every job has its own paths, nothing else is sent", async () => {
    await work.write("large.bin", Buffer.alloc(3 << 20));
    const { code, stderr, stdout } = await run(
      ["#@ --copy-forward a.txt", "cat a.txt", "#@ --copy-forward b", "cat b/b.txt"],
      ...machines,
      "--max-send",
      "1MB",
    );
    expect([code, stdout], stderr).toEqual([0, expect.stringContaining("2 succeeded")]);
    expect(stderr).toMatch(/^copying 2 files, 4 B$/m);
  });

  test("on this machine a job with --copy-forward has a copy, while the others run in place", async () => {
    const { code, stderr } = await run([
      "pwd; echo here > placed",
      "#@ --copy-forward b --name copied",
      "pwd; find . -type f; echo there > made",
      "until [ -s placed ]; do sleep 0.05; done; cat placed",
    ]);
    expect(code, stderr).toBe(0);
    expect(printed("1")).toBe(`${work.dir}\n`);
    expect(printed("copied")).toMatch(/\/work\n\.\/b\/b\.txt\n$/);
    expect(came("copied")).toEqual(["made"]);
    expect(existsSync(work.path("made"))).toBe(false);
    expect(printed("4")).toBe("here\n");
  });

  test("after an edit results follow their commands, and names stay; logs, retry and stop accept them", async () => {
    const once = (name: string) => `echo ${name} >> '${work.path("ran")}'; echo ${name}`;
    await run(["#@ --name same", once("X"), "#@ --name flaky", "echo flaky; exit 1"], ...machines);
    const second = await run(
      [
        "#@ --copy-forward c.py",
        once("NEW"),
        "#@ --name other",
        once("X"),
        "#@ --name same",
        once("X"),
        "#@ --name broken",
        "echo flaky; exit 1",
      ],
      ...machines,
    );
    expect(second.stderr).toContain("train.sh was edited: 1 result moved");
    // The name distinguishes equal commands: the new one ran.
    expect(readFileSync(work.path("ran"), "utf8")).toBe("X\nNEW\nX\n");
    expect(printed("broken")).toBe("flaky\n");
    const names = readdirSync(work.path("job_results")).filter((name) => name.endsWith(".out"));
    expect(names.sort()).toEqual(["2", "broken", "other", "same"].map((name) => `train.sh.${name}.out`));
    // For a finished job, nothing needs to be copied any more.
    rmSync(work.path("c.py"));
    const retried = await sshoal("retry", "broken");
    expect([retried.code, retried.stdout], retried.stderr).toEqual([1, expect.stringContaining("1 failed")]);
    expect(printed("broken.old-1")).toBe("flaky\n");
    expect(await sshoal("logs", "same")).toMatchObject({ code: 0, stdout: "X\n" });
    await run(["#@ --name endless", "sleep 60"], ...machines, "--detach");
    const stopped = await sshoal("stop", "endless");
    expect([stopped.code, existsSync(work.path("job_results/train.sh.endless"))], stopped.stderr).toEqual([
      0,
      true,
    ]);
    const { stdout } = await sshoal("results", "--csv");
    expect(stdout).toMatch(/^endless,stopped,/m);
  });

  test("another directory resumes the batch, with the names and paths of its jobs", async () => {
    const go = await makeWorkspace();
    onTestFinished(() => go.remove());
    const lines = [
      `${waitFor(go.path("go"))}; echo 1 > one`,
      "#@ --name second --copy-forward a.txt --copy-backwards out",
      "cat a.txt; mkdir out; echo 2 > out/two; echo 3 > three",
    ];
    expect(await run(lines, ...machines, "--detach")).toMatchObject({ code: 0 });
    const record = await work.read("job_results/.sshoal/train.sh.jsonl");
    const [, batch = ""] = /"batch":"([^"]+)"/.exec(record) ?? [];
    await go.write("go", "");
    const options = { cwd: go.dir, program: "sshoal" as const };
    const { code, stdout } = await runCommand(["attach", batch, ...machines], options);
    expect([code, stdout]).toEqual([0, expect.stringContaining("2 succeeded")]);
    expect(listBelow(go.path("job_results/train.sh.second"))).toEqual(["out/", "out/two"]);
    expect(await go.read("job_results/train.sh.second.out")).toBe("a\n");
  });

  test("a waiting job starts with the paths that an edit gives it", async () => {
    const go = await makeWorkspace();
    onTestFinished(() => go.remove());
    const lines = (paths: string) => [waitFor(go.path("go")), `#@ --copy-forward ${paths}`, FIND];
    expect(await run(lines("a.txt"), ...machines, "--detach")).toMatchObject({ code: 0 });
    await work.write("train.sh", lines("b").join("\n"));
    const command = spawnCommand(["train.sh", ...LIGHT_NO_GPU, ...machines, "--json"], { cwd: work.dir });
    await command.until(({ stdout }) => stdout().includes('"kind":"jobs-handed-over"'));
    await go.write("go", "");
    expect(await command.ended).toMatchObject({ code: 0 });
    expect(printed("3")).toBe("./b/b.txt ");
  });

  test("after a client was killed while trees were sent, the next one runs each job once", async () => {
    const lines = ["a.txt", "b", "c.py", "d.py"].flatMap((path) => [
      `#@ --copy-forward ${path}`,
      `ls; echo ${path} >> '${work.path("ran")}'`,
    ]);
    await work.write("train.sh", lines.join("\n"));
    const args = ["train.sh", ...LIGHT_NO_GPU, ...machines];
    const command = spawnCommand([...args, "--json"], { cwd: work.dir });
    await command.until(({ stdout }) => stdout().includes('"kind":"jobs-handed-over"'));
    command.child.kill("SIGKILL");
    await command.ended;
    expect(await runCommand(args, { cwd: work.dir })).toMatchObject({ code: 0 });
    expect((await work.read("ran")).split("\n").sort()).toEqual(["", "a.txt", "b", "c.py", "d.py"]);
    expect(["2", "4", "6", "8"].map(printed)).toEqual(["a.txt\n", "b\n", "c.py\n", "d.py\n"]);
  });

  test("--dry-run prints them", async () => {
    const lines = ["#@ --name prepare --copy-forward b a.txt --copy-backwards", "true", "true"];
    const { code, stdout } = await run(lines, ...machines, "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^would start on box\.yaml: train\.sh\.prepare; {2}true\n {2}--copy-forward: a\.txt b\n {2}--copy-backwards: none$/m,
    );
    const json = await run(lines, ...machines, "--dry-run", "--json");
    const start = parseEvents(json.stdout).find(({ kind }) => kind === "would-start");
    expect(start).toMatchObject({ name: "train.sh.prepare", copyForward: ["a.txt", "b"], copyBack: [] });
  });

  test("mistakes are reported with their lines, before any job starts", async () => {
    const { code, stderr } = await run(
      [
        "#@ --name 3-4",
        "true",
        "#@ --name a/b",
        "true",
        "#@ --name one",
        "true",
        "#@ --num-cpus 2",
        "#@ --name one",
        "touch ran",
        "#@ --name x.out",
        "true",
      ],
      ...machines,
    );
    expect(code).toBe(2);
    expect(stderr.match(/^error: .*/gm)).toEqual([
      "error: train.sh:1: the name 3-4: a number means a line",
      "error: train.sh:3: the name a/b: a name has only letters, digits, -, _ and single dots",
      "error: train.sh:8: the name one is taken: train.sh:5",
      "error: train.sh:10: the name x.out: a name has only letters, digits, -, _ and single dots",
    ]);
    const paths = ["#@ --copy-forward gone", "true", "#@ --copy-backwards ..", "#@ --copy-forward b", "true"];
    const second = await run(paths, ...machines);
    expect(second.code).toBe(2);
    expect(second.stderr.match(/^error: .*/gm)).toEqual([
      "error: train.sh:1: --copy-forward gone: there is no such file or directory",
      `error: train.sh:3: --copy-backwards ..: it is outside the working directory ${work.dir}`,
    ]);
    const inPlace = await run(["#@ --copy-backwards out", "true"]);
    expect(inPlace).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^error: train\.sh:1: --copy-backwards has no effect if jobs run in place: .*\ntry: add --copy-forward \.\//,
      ),
    });
    expect(existsSync(work.path("job_results"))).toBe(false);
  });
});

describe("--kabuki-commands", () => {
  test("runs a batch of execute_remote commands, each with the line's own paths and name or the batch's", async () => {
    const { code, stdout, stderr } = await run(
      [
        "execute_remote --copy-forward b *.py --copy-backwards out/one --verbose \"find . -type f | sort | tr '\\n' ' ' && mkdir out && touch out/one out/two\"",
        `execute_remote "ls | tr '\\n' ' '; echo \\"\\$((1 + 1))\\" > made" --job-name=made # the batch's paths`,
        "execute_remote 'cat a.txt; exit 7' \\",
        "  --job-name failing",
      ],
      "--kabuki-commands",
      "--copy-forward",
      "a.txt",
      ...machines,
    );
    expect([code, stdout], stderr).toEqual([1, expect.stringContaining("2 succeeded, 1 failed")]);
    expect(printed("1")).toBe("./b/b.txt ./c.py ./d.py ");
    expect(came("1")).toEqual(["out/", "out/one"]);
    expect(printed("made")).toBe("a.txt ");
    expect(readFileSync(work.path("job_results/train.sh.made/made"), "utf8")).toBe("2\n");
    expect(printed("failing")).toBe("a\n");
    expect(stdout).toContain("failed: train.sh.failing; cat a.txt; exit 7");
  });

  test("each bad line is reported with what to type, and nothing runs", async () => {
    const { code, stderr } = await run(
      [
        "#@ --kabuki-commands",
        "",
        "touch ran",
        'execute_remote "touch ran" --machine gpu1',
        'execute_remote "touch ran" && touch ran',
        "execute_remote touch ran",
        'execute_remote --copy-forward b "touch ran"',
        'execute_remote "touch ran" --copy-forwrd b',
        'execute_remote "touch ran" --job-name 5',
      ],
      ...machines,
    );
    expect(code).toBe(2);
    expect(stderr.match(/^error: .*/gm)).toEqual([
      "error: train.sh:3: this is no execute_remote command",
      "error: train.sh:4: --machine cannot be set here: jobs run on the machines of the batch",
      'error: train.sh:5: "&&" is outside the quotes: the line must be one execute_remote command',
      'error: train.sh:6: "ran" is a second command',
      "error: train.sh:7: which command?",
      "error: train.sh:8: unknown option '--copy-forwrd'",
      "error: train.sh:9: the name 5: a number means a line",
    ]);
    expect(stderr).toContain("try: did you mean --copy-forward?");
    const inner = await run(["execute_remote 'if true; then echo'"], "--kabuki-commands", ...machines);
    expect(inner.code).toBe(2);
    expect(inner.stderr).toMatch(/^error: train\.sh:1: in its command: .*unexpected end of file/);
    const piped = await runCommand(["-", "--kabuki-commands"], { cwd: work.dir });
    expect(piped).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--kabuki-commands takes a script"),
    });
    expect(existsSync(work.path("job_results"))).toBe(false);
  });
});
