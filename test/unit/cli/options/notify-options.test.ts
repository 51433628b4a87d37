import { expect, test } from "vitest";
import { noticeOf, resolveNotify } from "../../../../src/cli/options/notify-options.js";
import { parseOptions } from "../../../../src/cli/options/options.js";

function run(...argv: string[]) {
  const invocation = parseOptions({ program: "execute_batch", argv: ["jobs.sh", ...argv], env: {} });
  if (invocation.command !== "run") throw new Error("not a run");
  return invocation;
}

test("the command is run at the end, unless it is to be at the first failure", () => {
  expect(run("--notify", "x").options.notify).toEqual({ command: "x", on: null });
  expect(noticeOf({ command: "x", on: null })).toEqual({ command: "x", on: "end" });
  expect(noticeOf(run("--notify", "x", "--notify-on", "failure").options.notify)).toEqual({
    command: "x",
    on: "failure",
  });
  expect(noticeOf({ command: null, on: null })).toBe(null);
});

test("a script may have the one, and the command line the other", () => {
  const { revise } = run("--notify-on", "failure");
  expect(noticeOf(revise({ notify: "x" }).notify)).toEqual({ command: "x", on: "failure" });
});

test("an empty command is none; one of spaces, or a time without a command, is a mistake", () => {
  expect(noticeOf(resolveNotify({ notify: "" }))).toEqual({ command: "", on: "end" });
  expect(() => resolveNotify({ notify: "  " })).toThrow("--notify takes a command");
  expect(() => noticeOf({ command: null, on: "failure" })).toThrow("--notify-on needs a command");
  expect(() => run("--notify-on", "never")).toThrow(/Allowed choices are end, failure/);
});

test("attach and retry take it, too; attach --watch does not", () => {
  const sshoal = (...argv: string[]) => parseOptions({ program: "sshoal", argv, env: {} });
  expect(sshoal("attach", "--notify", "x")).toMatchObject({
    options: { notice: { command: "x", on: "end" } },
  });
  expect(sshoal("retry", "1", "--notify", "x", "--notify-on", "failure")).toMatchObject({
    options: { notice: { command: "x", on: "failure" } },
  });
  expect(() => sshoal("attach", "--watch", "--notify", "x")).toThrow(
    "--watch cannot be combined with --notify",
  );
});
