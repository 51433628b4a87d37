// The scripts are run by all shells that may run them.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { jobScript } from "../../../../src/remote/spool/job-script.js";
import { aSpec } from "../../plan/a-machine.js";

interface Facts {
  readonly env?: Record<string, string>;
  readonly machineEnv?: Record<string, string>;
  readonly setup?: string[];
  readonly wrap?: string[];
}

describe.each([["bash"], ["dash"], ["busybox"]])("under %s", (shell) => {
  function run(command: string, { env = {}, machineEnv = {}, setup = [], wrap = [] }: Facts = {}) {
    const machine = aSpec({ name: "my machine.yaml", env: machineEnv, setup });
    const script = jobScript({ id: 1, line: 1, name: "jobs.sh.1", command }, machine, "b-1", env, { wrap });
    const { stdout, stderr, status } = spawnSync(shell, shell === "busybox" ? ["ash", "-s"] : ["-s"], {
      input: script,
      env: { PATH: "/usr/bin:/bin" },
      encoding: "utf8",
    });
    return { stdout, stderr, status };
  }

  test("the line as it was written, with variables that identify the job", () => {
    expect(run('echo "$SSHOAL_JOB $SSHOAL_BATCH $SSHOAL_MACHINE $PYTHONUNBUFFERED"; exit 3')).toEqual({
      stdout: "jobs.sh.1 b-1 my machine.yaml 1\n",
      stderr: "",
      status: 3,
    });
  });

  test("values with any characters are kept", () => {
    const value = `it's "$HOME" \`x\` \\n\n* é`;
    expect(run('printf %s "$VALUE"', { env: { VALUE: value } }).stdout).toBe(value);
  });

  test("the command line takes precedence over the machine file, which takes precedence over sshoal", () => {
    const machineEnv = { PYTHONUNBUFFERED: "0", A: "machine", B: "machine" };
    expect(run("echo $PYTHONUNBUFFERED $A $B", { machineEnv, env: { B: "command" } }).stdout).toBe(
      "0 machine command\n",
    );
  });

  test("the variables that identify a job cannot be overridden", () => {
    expect(run("echo $SSHOAL_JOB", { env: { SSHOAL_JOB: "another" } }).stdout).toBe("jobs.sh.1\n");
  });

  test.each([
    ["a here-document as the last thing", "cat <<'E'\na \\\nE", "a \\\n"],
    ["quotes over lines", "echo 'a\nb'", "a\nb\n"],
    ["a loop", "for x in 1 2; do\n  echo $x\ndone # over \\", "1\n2\n"],
    ["a backslash and nothing after it", "echo a \\", "a\n"],
  ])("several lines are one text: %s", (_, command, stdout) => {
    expect(run(command, { setup: ["true"] })).toMatchObject({ stdout, status: 0 });
  });

  test("setup runs first, in the same shell", () => {
    const setup = ["cd /tmp", "where=$PWD", "greet() { echo hello; }"];
    expect(run("greet; echo $where; pwd", { setup }).stdout).toBe("hello\n/tmp\n/tmp\n");
  });

  test("if the setup fails, the job does not run, and stderr has the reason", () => {
    const { stdout, stderr, status } = run("echo ran", { setup: ["true", "false"] });
    expect([stdout, status]).toEqual(["", 125]);
    expect(stderr).toContain("sshoal: the setup of my machine.yaml failed");
  });

  describe("with a wrapper", () => {
    test.each([
      ["quotes and dollars", `printf '%s\\n' "it's" '$HOME' "\`echo x\`" \\$1`, "it's\n$HOME\nx\n$1\n"],
      ["a here-document as the last thing", "cat <<'E'\na \\\nE", "a \\\n"],
      ["several lines", "for x in 1 2; do\n  echo $x\ndone # over", "1\n2\n"],
      ["a backslash and nothing after it", "echo a \\", "a\n"],
      ["nothing in front of it", 'echo "$#"', "0\n"],
    ])("the command arrives as it was written: %s", (_, command, stdout) => {
      expect(run(command, { wrap: ["env", "A=1 2"] })).toEqual({ stdout, stderr: "", status: 0 });
    });

    test("words with blanks and quotes arrive, setup and env run outside, and the exit code is that of the command", () => {
      const wrap = ["env", "-u", "HIDDEN", "ODD=it's $HOME"];
      const facts = { env: { GIVEN: "1" }, setup: ["export MADE=2 HIDDEN=3; cd /tmp"], wrap };
      expect(run('echo "$GIVEN $MADE $HIDDEN $ODD"; pwd; exit 7', facts)).toEqual({
        stdout: "1 2  it's $HOME\n/tmp\n",
        stderr: "",
        status: 7,
      });
    });

    test("bash runs the command if the wrapper finds one, and sh otherwise", () => {
      const command = "echo $BASH";
      expect(run(command, { wrap: ["env"] }).stdout).toMatch(/bash/);
      const only = mkdtempSync(join(tmpdir(), "sshoal-sh-"));
      onTestFinished(() => rmSync(only, { recursive: true }));
      symlinkSync("/bin/dash", join(only, "sh"));
      expect(run(command, { wrap: ["env", `PATH=${only}`] }).stdout).toBe("\n");
    });

    test("a wrapper that is missing is named, with 127", () => {
      expect(run("echo ran", { wrap: ["no such", "exec"] })).toEqual({
        stdout: "",
        stderr: "sshoal: there is no no such on my machine.yaml to run the job inside (wrap)\n",
        status: 127,
      });
    });
  });

  test("a comment at the end of setup or of the line hides nothing", () => {
    expect(run("echo ran # here", { setup: ["true # there"] }).stdout).toBe("ran\n");
  });
});
