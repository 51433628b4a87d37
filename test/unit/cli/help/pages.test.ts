// Man pages and completion scripts, as the build makes them of the definitions.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bashCompletion } from "../../../../src/cli/help/bash-completion.js";
import { withExamples, withNote } from "../../../../src/cli/help/examples.js";
import { fishCompletion } from "../../../../src/cli/help/fish-completion.js";
import { layOutHelp, visibleCommands } from "../../../../src/cli/help/lay-out.js";
import { manPages } from "../../../../src/cli/help/man-pages.js";
import { outline } from "../../../../src/cli/help/outline.js";
import { makePages } from "../../../../src/cli/help/pages.js";
import { zshCompletion } from "../../../../src/cli/help/zsh-completion.js";
import { describeForReading, PROGRAMS } from "../../../../src/cli/options/options.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
beforeAll(async () => {
  work = await makeWorkspace();
});
afterAll(() => work.remove());

const template = (shell: string) => readFileSync(`src/cli/help/complete.${shell}`, "utf8");
const templates = { bash: template("bash"), zsh: template("zsh"), fish: template("fish") };
const pages = makePages(templates);
const manNames = [...pages.keys()].filter((path) => path.startsWith("man/"));

test("each program and each command has a man page, which npm installs", () => {
  const programs = PROGRAMS.map((program) => describeForReading(program));
  const names = programs.flatMap((program) => [
    program.name(),
    ...visibleCommands(program).map((command) => `${program.name()}-${command.name()}`),
  ]);
  const expected = names.filter((name) => !name.endsWith("-help")).map((name) => `man/${name}.1`);
  expect([...manNames].sort()).toEqual(expected.sort());
  const { man } = JSON.parse(readFileSync("package.json", "utf8"));
  const why = 'npm installs only what package.json lists: this is its "man"';
  expect(man, why).toEqual([...manNames].sort().map((path) => `dist/${path}`));
});

test("every option of every command is in its man page and in each script", () => {
  for (const command of PROGRAMS.map((program) => describeForReading(program))) {
    for (const each of [command, ...visibleCommands(command)].filter((some) => some.name() !== "help")) {
      const page = pages.get(`man/${[each.parent?.name(), each.name()].filter(Boolean).join("-")}.1`);
      for (const { long } of each.options) {
        if (!long) continue;
        expect(page).toContain(`\\fB${long.replaceAll("-", "\\-")}\\fR`);
        expect(pages.get("completion/sshoal.bash")).toContain(long);
        expect(pages.get("completion/_sshoal")).toContain(long);
        expect(pages.get("completion/sshoal.fish")).toContain(`-l ${long.slice(2)}`);
      }
    }
  }
});

test("nothing of a template is left over", () => {
  for (const [path, text] of pages) expect(text, path).not.toMatch(/@[A-Z_]+@|undefined|\[object/);
});

describe("text with characters that mean something elsewhere", () => {
  const AWKWARD = `.dot 'single' "double" \\back \`tick\` ^caret ~tilde $HOME $(date) [box] {brace} *.x: 100% #no !bang -dash`;
  const command = new Command("tool").description(AWKWARD).argument("[file]", AWKWARD);
  command.option("--odd <file>", AWKWARD).option("--env <NAME=VALUE>", `set ${AWKWARD}; repeatable`);
  withNote(command, "Notes", AWKWARD);
  withExamples(command, [[AWKWARD, AWKWARD]]);
  layOutHelp(command);
  const tool = outline(command);

  test("comes out of a man page as it is", async () => {
    const file = await place("tool.1", manPages([tool], "1.0").get("tool.1") ?? "");
    const { stdout } = run("mandoc", "-T", "utf8", "-O", "width=400", file);
    const plain = stdout.replace(/.\x08/g, "").replace(/\s+/g, " ");
    // Its name, description, argument, two options, note and example.
    expect(plain.split(AWKWARD)).toHaveLength(9);
    expect(mistakesOf(file)).toBe("");
  });

  test.each([
    ["bash", () => bashCompletion([tool], templates.bash), 'source "$0" && complete -p tool'],
    ["zsh", () => zshCompletion([tool], templates.zsh), 'compdef() { echo tool }; source "$0"'],
    ["fish", () => fishCompletion([tool], templates.fish), "source $argv[1]; complete -c tool"],
  ])("is not run by %s", async (shell, make, line) => {
    const { status, stdout, stderr } = run(shell, "-c", line, await place(`tool.${shell}`, make()));
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("tool");
    expect(stdout).not.toMatch(/20\d\d/); // of $(date)
  });

  test("is refused where it would have to be a choice", () => {
    const shell = new Command("tool").option("--odd <file>", "set it");
    for (const option of shell.options) option.choices(["$(date)"]);
    layOutHelp(shell);
    expect(() => bashCompletion([outline(shell)], templates.bash)).toThrow("cannot be completed");
  });
});

test("man pages have no mistake that mandoc or man knows", async () => {
  const files = await Promise.all(manNames.map((name) => place(name, pages.get(name) ?? "")));
  expect(mistakesOf(...files)).toBe("");
});

/** There is no date, so that the same sources always make the same pages. */
function mistakesOf(...files: string[]): string {
  const lint = run("mandoc", "-T", "lint", "-W", "warning", ...files).stdout;
  return (
    lint.replace(/^.*missing date.*\n/gm, "") + run("man", "--warnings", "-E", "UTF-8", "-l", ...files).stderr
  );
}

function run(program: string, ...args: string[]) {
  return spawnSync(program, args, {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: work.dir, LANG: "C.UTF-8" },
  });
}

function place(name: string, text: string): Promise<string> {
  return work.write(name, text);
}
