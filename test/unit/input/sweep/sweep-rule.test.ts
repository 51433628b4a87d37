import fc from "fast-check";
import { expect, test } from "vitest";
import { parseRule } from "../../../../src/input/sweep/sweep-rule.js";

test.each([
  ["", "the rule is empty (such as pool0 == pool1)"],
  ["pool0 = pool1", '"=" is not allowed in a rule, did you mean "=="?'],
  ["a == 1 && b == 2", '"&&" is not allowed in a rule, did you mean "and"?'],
  ["a == 1 || b == 2", '"||" is not allowed in a rule, did you mean "or"?'],
  ["!a == 1", '"!" is not allowed in a rule, did you mean "not"?'],
  ["a + 1 == 2", '"+" is not allowed in a rule (write comparisons, joined by and, or, not)'],
  ["a == 1x", '"1x" is not allowed in a rule (write comparisons, joined by and, or, not)'],
  ["a == 'x", "the text that begins with ' does not end"],
  ["a", "expected a comparison at the end (such as a == 'true')"],
  ["a and b == 1", "expected a comparison before and (such as a == 'true')"],
  ["a ==", "expected a name, a number or a text in quotes at the end"],
  ["a == and", "expected a name, a number or a text in quotes before and"],
  ["== 1", "expected a name, a number or a text in quotes before =="],
  ["(a == 1", 'expected ")" at the end'],
  ["a == 1)", 'expected "and" or "or" before )'],
  ["a == 1 b == 2", 'expected "and" or "or" before b'],
  ["1 < a < 3", "compare two at a time (a < b and b < c)"],
  ["__import__('os')", "expected a comparison before ( (such as __import__ == 'true')"],
  [`${"(".repeat(51)}a == 1${")".repeat(51)}`, "nested too deeply"],
])("%j is refused", (text, expected) => {
  const parsed = parseRule(text);
  if (!("message" in parsed)) throw new Error("accepted");
  expect(parsed.hint === undefined ? parsed.message : `${parsed.message} (${parsed.hint})`).toBe(expected);
});

test("the names in it", () => {
  const parsed = parseRule("not (pool-0 == pool.1) and 'x' != lr or 1e-3 < lr");
  expect("names" in parsed && [...parsed.names]).toEqual(["pool-0", "pool.1", "lr"]);
});

test("any text is a rule or a mistake, never a bug of ours", () => {
  const words = fc.constantFrom("a", "==", "<", "and", "or", "not", "(", ")", "1", "'x'", "=", "-", " ");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(words).map((list) => list.join(" ")),
      ),
      (text) => {
        parseRule(text);
      },
    ),
  );
  parseRule("(".repeat(100_000));
  parseRule("not ".repeat(100_000));
  expect(parseRule(Array(50_000).fill("a == 1").join(" and "))).toHaveProperty("condition.kind", "and");
});
