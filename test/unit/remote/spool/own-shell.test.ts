import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { needsOwnShell } from "../../../../src/remote/spool/own-shell.js";

test.each([
  "true",
  "python train.py --lr 0.1 --name=a,b",
  "./run.sh data/*.csv ~/out > log.txt 2>&1",
  "/usr/bin/env python3 -c 'import os; print(\"$HOME\", os.getpid())'",
  "echo \"two words\" 'and $more' >> said",
  "  sleep 1\t",
  "cat <input >output",
  "printf '%s\n' 'of\nseveral lines'",
  "true # $(a comment) that ends with a backslash \\",
])("a plain command does not need it: %j", (line) => {
  expect(needsOwnShell(line)).toBe(false);
});

test.each([
  ["a variable, which may be one of the shell's own", 'echo $$ "$0"'],
  ["in double quotes, too", 'echo "$BASHPID"'],
  ["a command within", "echo `date`"],
  ["the same in other words", "echo $(date)"],
  ["a process within", "diff <(ls) b"],
  ["a list", "a; b"],
  ["another one", "a && b"],
  ["a pipe", "a | b"],
  ["something in the background", "a &"],
  ["several lines", "a\nb"],
  ["a line that goes on", "a \\\nb"],
  ["a variable that is set", "SEED=1 python train.py"],
  ["a group", "(a)"],
  ["another one", "{ a; }"],
  ["a test", "[[ -e a ]]"],
  ["a denial", "! a"],
  ["a here-document", "cat <<END\nx\nEND"],
  ["a quote that is not closed", "echo 'a"],
  ["nothing", ""],
  ["a comment", "# a"],
  ["a line after a comment", "true # a\ntrue"],
  ["a name that is not plain", "'python' a"],
])("%s: %j", (_, line) => {
  expect(needsOwnShell(line)).toBe(true);
});

test("builtins that change the shell need it; those that only print do not", () => {
  const own = execFileSync("bash", ["-c", "compgen -b; compgen -k"], { encoding: "utf8" });
  const names = [...new Set(own.split("\n").filter(Boolean))];
  expect(names.length).toBeGreaterThan(70);
  expect(names.filter((name) => !needsOwnShell(name)).toSorted()).toEqual([
    "echo",
    "false",
    "printf",
    "test",
    "true",
  ]);
});

test("a line of any length is judged quickly", () => {
  expect(needsOwnShell(`a${" '".repeat(20_000)}`)).toBe(false);
  expect(needsOwnShell(`a ${"-".repeat(200_000)}(`)).toBe(true);
  expect(needsOwnShell(`a ${"2 ".repeat(100_000)}(`)).toBe(true);
});
