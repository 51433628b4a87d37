// The scripts are run by all shells that may run them.

import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { jobScript } from "../../../../src/remote/spool/job-script.js";
import { aSpec } from "../../plan/a-machine.js";

interface Facts {
  readonly env?: Record<string, string>;
  readonly machineEnv?: Record<string, string>;
  readonly setup?: string[];
}

describe.each([["bash"], ["dash"], ["busybox"]])("under %s", (shell) => {
  function run(command: string, { env = {}, machineEnv = {}, setup = [] }: Facts = {}) {
    const machine = aSpec({ name: "my machine.yaml", env: machineEnv, setup });
    const script = jobScript({ id: 1, line: 1, name: "jobs.sh.1", command }, machine, "b-1", env);
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

  test("a comment at the end of setup or of the line hides nothing", () => {
    expect(run("echo ran # here", { setup: ["true # there"] }).stdout).toBe("ran\n");
  });
});
