import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatJobStem } from "../../../../src/input/batch/job-name.js";

describe("a job is named for its script", () => {
  test.each([
    ["batch_script.sh", "batch_script.sh"],
    ["example/batch_script.sh", "example_batch_script.sh"],
    ["./a/b.sh", "a_b.sh"],
    ["a//b.sh", "a_b.sh"],
    ["a/../b.sh", "b.sh"],
    ["/home/me/b.sh", "_home_me_b.sh"],
    ["../b.sh", "__b.sh"],
    ["../../b.sh", "____b.sh"],
    [".hidden.sh", "_hidden.sh"],
    [".sshoal", "_sshoal"],
    ["./-rf", "_rf"],
    ["a..b.sh", "a_b.sh"],
    ["ends.", "ends_"],
    ["with space\tand\nlines.sh", "with_space_and_lines.sh"],
    ["back\\slash.sh", "back_slash.sh"],
    ["$(rm -r x).sh", "__rm_-r_x_.sh"],
    ["größe_実験.sh", "größe_実験.sh"],
  ])("%j becomes %j", (path, name) => {
    expect(formatJobStem(path)).toBe(name);
  });
});

test("scripts in directories above, below and at the root do not share a name", () => {
  const names = ["b.sh", "../b.sh", "../../b.sh", "/b.sh", "a/b.sh"].map((path) => formatJobStem(path));
  expect(new Set(names).size).toBe(names.length);
});

test("paths that are too long get different names, which end as the paths end", () => {
  const [first, second] = ["x", "y"].map((start) => formatJobStem(`${start}${"/deep".repeat(90)}/run.sh`));
  expect(first).not.toBe(second);
  expect(first).toMatch(/_run\.sh$/);
});

test("for any path, the name of a job is a safe file name", () => {
  const anyPath = fc.oneof(
    fc.string({ unit: "binary", maxLength: 400 }),
    fc
      .array(fc.constantFrom("..", ".", "", "-", "a", "/", "\\", "~", "\0", " "), { maxLength: 20 })
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(anyPath, (path) => {
      const name = `${formatJobStem(path)}.1`;
      expect(name).not.toMatch(/[/\\\s\p{C}]|\.\.|^[.-]/u);
      expect(Buffer.byteLength(`${name}.out`)).toBeLessThan(210);
    }),
  );
});
