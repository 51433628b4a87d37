import { describe, expect, test } from "vitest";
import { attendedHalt, parseHalt } from "../../../../src/cli/options/halt-option.js";
import { UserError } from "../../../../src/errors.js";
import { formatHaltRule } from "../../../../src/model/halt-rule.js";

test.each([
  ["soon,fail=3", "soon,fail=3"],
  ["now,fail=10%", "now,fail=10%"],
  ["now,success=1", "now,success=1"],
  ["soon,done=100%", "soon,done=100%"],
  // Old forms that GNU parallel still accepts.
  ["1", "soon,fail=1"],
  ["2", "now,fail=1"],
  ["-1", "soon,success=1"],
  ["-2", "now,success=1"],
  ["30%", "soon,fail=30%"],
])("--halt %s is %s", (typed, meant) => {
  const rule = parseHalt(typed);
  expect(rule && formatHaltRule(rule)).toBe(meant);
});

test.each(["never", "0"])("--halt %s is refused", (typed) => {
  expect(parseHalt(typed)).toBeNull();
});

describe("an error says what to type", () => {
  test.each([
    ["later,fail=1", 'unknown rule "later,fail=1"'],
    ["soon", 'unknown rule "soon"'],
    ["soon,fail", 'unknown rule "soon,fail"'],
    ["soon,fail=", 'unknown rule "soon,fail="'],
    ["soon,fail=-1", 'unknown rule "soon,fail=-1"'],
    ["soon,fail=1.5%", 'unknown rule "soon,fail=1.5%"'],
    ["now, fail=1", 'unknown rule "now, fail=1"'],
    ["3", 'unknown rule "3"'],
    ["", 'unknown rule ""'],
    ["soon,fail=0", "0 would end the batch before it begins"],
    ["now,done=0%", "0 would end the batch before it begins"],
    ["now,fail=101%", "at most 100%"],
  ])("--halt %s", (typed, message) => {
    const error = thrownBy(() => parseHalt(typed));
    expect(error.message).toContain(message);
    expect(error.hint).toContain("--halt soon,fail=3");
  });

  test("--halt together with --detach", () => {
    const rule = { when: "soon", why: "fail", amount: 1, unit: "jobs" } as const;
    expect(attendedHalt(rule, false)).toBe(rule);
    expect(thrownBy(() => attendedHalt(rule, true)).hint).toContain("leave out --detach");
  });
});

function thrownBy(action: () => unknown): UserError {
  try {
    action();
  } catch (error) {
    if (error instanceof UserError) return error;
  }
  throw new Error("no UserError was thrown");
}
