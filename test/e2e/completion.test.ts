// Completion in real shells: what the line holds after Tab. Names come from files, and a file can have any name.

import { spawnSync } from "node:child_process";
import { cpSync, readdirSync } from "node:fs";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROGRAMS } from "../../src/cli/options/options.js";
import { runCommand } from "../rig/command.js";
import { type InteractiveShell, openShell, type ShellName } from "../rig/interactive-shell.js";
import { makeHome } from "../rig/own-home.js";
import { killAll, pidsWithHome } from "../rig/processes.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const COMPINIT = "autoload -Uz compinit; compinit -u -D";
const SOURCED: Readonly<Record<ShellName, string>> = {
  bash: "source <(sshoal completion bash)",
  zsh: `${COMPINIT}; source <(sshoal completion zsh)`,
  fish: "sshoal completion fish | source",
};

/** Each would make a file if a shell took it for more than a name. */
const HOSTILE = [
  "$(touch pwned).yaml",
  "`touch pwned`.yaml",
  "semi;touch pwned;.yaml",
  "quote'$(touch pwned)'.yaml",
  'double"$(touch pwned)".yaml',
  "a b.yaml",
  "back\\slash.yaml",
  "bang!!.yaml",
  "glob*[a]{b,c}.yaml",
  "colon:x=y.yaml",
];
const HOSTILE_BATCH = 'x y";touch pwned;$(touch pwned)';

let work: Workspace;
let home: Workspace;
let before: string[];

beforeAll(async () => {
  [work, home] = await Promise.all([makeWorkspace(), makeHome()]);
  for (const name of ["alpha.yaml", "machines/beta.yaml", ...HOSTILE])
    await work.write(name, "ip: 192.0.2.1\n");
  await work.write("\u001b[31mred.yaml", "ip: 192.0.2.1\n");
  await work.write("two\nlines.yaml", "ip: 192.0.2.1\n");
  await work.write("jobs.sh", "echo one\nsleep 1000\n");
  await home.write(".ssh/config", "Host gpu1 ada@lab\n");
  await home.write("data/file", "");
  await mkdir(home.path("bin"));
  for (const program of PROGRAMS)
    await symlink(`${DIST}/${program.replaceAll("_", "-")}.js`, home.path("bin", program));
  const detached = ["jobs.sh", "--detach", "--no-gpu-required", "--memory-required", "10"];
  expect(await runCommand(detached, { cwd: work.dir, home: home.dir })).toMatchObject({ code: 0 });
  cpSync(
    work.path("job_results/.sshoal/jobs.sh.jsonl"),
    work.path(`job_results/.sshoal/${HOSTILE_BATCH}.jsonl`),
  );
  before = filesNow();
});
afterAll(async () => {
  killAll(pidsWithHome(home.dir));
  await Promise.all([work.remove(), home.remove()]);
});

function filesNow(): string[] {
  return readdirSync(work.dir).sort();
}

function open(shell: ShellName, setUp: string): Promise<InteractiveShell> {
  const path = `${home.path("bin")}:${process.env.PATH}`;
  const dir = home.path("shells", `${shell}-${shellCount++}`);
  return openShell({ shell, setUp, cwd: work.dir, home: home.dir, path, dir });
}
let shellCount = 0;

describe.each<ShellName>(["bash", "zsh", "fish"])("%s", (name) => {
  let shell: InteractiveShell;
  beforeAll(async () => {
    shell = await open(name, SOURCED[name]);
  });
  afterAll(() => shell.close());

  test.each([
    ["a command", "sshoal stat", "us "],
    ["a command to get help for", "sshoal help stat", "us "],
    ["an option of a command", "sshoal status --js", "on "],
    ["an option of another program", "execute_batch --dry", "-run "],
    ["a choice", "sshoal run --host-keys acc", "ept-new "],
    ["a choice after =", "sshoal run --host-keys=acc", "ept-new "],
    ["a state", "sshoal logs --state fai", "led "],
    ["a shell", "sshoal completion fi", "sh "],
    ["a file", "execute_batch jobs", ".sh "],
    ["a machine file", "execute_batch --machines al", "pha.yaml "],
    ["a machine file of machines/", "execute_remote --machine be", "ta.yaml "],
    ["an alias", "simple_gpu_scheduler --machines gp", "u1 "],
    ["an alias with an @", "execute_batch --machines ada@", "lab "],
    ["a path to a machine", "execute_batch --machines machines/be", "ta.yaml "],
    ["one more of a list", "sshoal sweep x --run --machines gpu1 al", "pha.yaml "],
    ["a list with commas", "execute_batch --machines gpu1,al", "pha.yaml "],
    ["an option after a list", "execute_batch --machines gpu1 --verb", "ose "],
    ["an option after a list of anything", "simple_hypersearch x -p lr 1 2 --param", "eter "],
    ["a file after the list has ended", "execute_batch --machines gpu1 --tee jobs", ".sh "],
    ["files to copy", "execute_batch jobs.sh --copy-forward alp", "ha.yaml "],
    ["a file below another directory", "sshoal run -F ~/data/fi", "le "],
    ["a batch", "sshoal attach job", "s.sh "],
    ["a job", "sshoal logs jobs.sh.2", " "],
    ["a machine that has jobs", "sshoal drain loc", "alhost "],
    ["a command of grass", "grass create-q", "ueue "],
    ["an option of a command of grass", "grass enqueue --sy", "nc "],
    ["nothing for a number", "execute_batch --num-cpus ", ""],
    ["nothing for a command that does not exist", "sshoal frobnicate --js", ""],
  ])("%s: %s", async (_, typed, rest) => {
    expect(await shell.tab(typed)).toBe(typed + rest);
  });

  test("a value beside its option", async () => {
    // zsh joins them by =, which goes away with the next blank.
    expect(await shell.tab("execute_batch --gpus-per")).toMatch(/^execute_batch --gpus-per-job[ =]$/);
  });

  test.each(HOSTILE)("the machine %s comes as one word, and runs nothing", async (machine) => {
    const typed = `execute_batch --machines ${escaped(machine.slice(0, 3))}`;
    const line = await shell.tab(typed);
    expect(wordsOf(name, line.replace("execute_batch ", ""))).toEqual(["--machines", machine]);
    expect(filesNow()).toEqual(before);
  });

  test.each(["'", '"'])("a name after the quote %s", async (mark) => {
    const line = await shell.tab(`execute_batch --machines ${mark}a b`);
    expect(line).toBe(`execute_batch --machines ${mark}a b.yaml${mark} `);
    const dollar = mark === "'" ? "$" : "\\$";
    const odd = await shell.tab(`execute_batch --machines ${mark}${dollar}`);
    expect(odd).toBe(`execute_batch --machines ${mark}${dollar}(touch pwned).yaml${mark} `);
  });

  test("the name of a batch that would be a command", async () => {
    const line = await shell.tab("sshoal status x");
    expect(wordsOf(name, line.replace("sshoal status ", ""))).toEqual([HOSTILE_BATCH]);
    expect(filesNow()).toEqual(before);
  });
});

/** As a person would type it. */
function escaped(text: string): string {
  return text.replace(/[^\w.:-]/g, "\\$&");
}

/** What the shell makes of a part of a line. */
function wordsOf(shell: ShellName, text: string): string[] {
  const { stdout } = spawnSync(shell, ["-c", `printf '%s\\n' ${text}`], { cwd: work.dir, encoding: "utf8" });
  return stdout.trimEnd().split("\n");
}

describe("installed as docs/completion.md says", () => {
  const TABS = [
    ["sshoal stat", "sshoal status "],
    ["execute_batch --machines al", "execute_batch --machines alpha.yaml "],
    ["simple_hypersearch --param", "simple_hypersearch --parameter "],
  ] as const;

  async function expectCompletion(shell: InteractiveShell): Promise<void> {
    for (const [typed, line] of TABS) expect(await shell.tab(typed)).toBe(line);
    await shell.close();
  }

  test("a file for each program, which the bash-completion package loads", async () => {
    const dir = home.path(".local/share/bash-completion/completions");
    await mkdir(dir, { recursive: true });
    for (const program of PROGRAMS) await symlink(`${DIST}/completion/sshoal.bash`, `${dir}/${program}`);
    await expectCompletion(await open("bash", "source /usr/share/bash-completion/bash_completion"));
  });

  test("sourced beside the bash-completion package", async () => {
    const setUp = `source /usr/share/bash-completion/bash_completion; ${SOURCED.bash}`;
    const shell = await open("bash", setUp);
    expect(await shell.tab("execute_batch --machines ada@")).toBe("execute_batch --machines ada@lab ");
    await expectCompletion(shell);
  });

  test("a file in the fpath of zsh", async () => {
    await expectCompletion(await open("zsh", `fpath=(${DIST}/completion $fpath); ${COMPINIT}`));
  });

  test("a file in conf.d of fish", async () => {
    await mkdir(home.path(".config/fish/conf.d"), { recursive: true });
    await symlink(`${DIST}/completion/sshoal.fish`, home.path(".config/fish/conf.d/sshoal.fish"));
    await expectCompletion(await open("fish", ""));
  });
});

describe("sshoal complete-words", () => {
  const complete = (...args: string[]) =>
    runCommand(["complete-words", ...args], { cwd: work.dir, home: home.dir, program: "sshoal" });

  test("prints one name per line, none with control characters", async () => {
    const { code, stdout, stderr } = await complete("machines", "--", "");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines.every((line) => /^[^\x00-\x1f\x7f]+\t[^\x00-\x1f\x7f]+$/.test(line))).toBe(true);
    const words = lines.map((line) => line.split("\t")[0]);
    expect(words.sort()).toEqual([...HOSTILE, "alpha.yaml", "beta.yaml", "gpu1", "ada@lab"].sort());
  });

  test("a number, with what the job is", async () => {
    await work.write("alone/jobs.sh", "");
    const record = await readFile(work.path("job_results/.sshoal/jobs.sh.jsonl"));
    await work.write("alone/job_results/.sshoal/jobs.sh.jsonl", record);
    const options = { cwd: work.path("alone"), home: home.dir, program: "sshoal" } as const;
    const { stdout } = await runCommand(["complete-words", "jobs", "2"], options);
    expect(stdout).toMatch(/^2\t(running|waiting): sleep 1000\n$/);
  });

  test.each([
    ["a word that begins like an option", ["machines", "--", "--x"]],
    ["a word that no name has", ["jobs", "--", "no such job"]],
  ])("%s: nothing", async (_, args) => {
    expect(await complete(...args)).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });
});
