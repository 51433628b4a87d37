import { expect, test } from "vitest";
import { nameMissing } from "../../../../src/remote/results/missing-paths.js";

const many = (count: number, name: (n: number) => string) => Array.from({ length: count }, (_, n) => name(n));

test.each([
  ["files and directories, each once", ["b", "a/", "a/", "b"], ["a/", "b"]],
  ["a directory includes its content", ["a/b/c", "a/", "a/d/", "ab"], ["a/", "ab"]],
  ["a directory that is named twice", ["a", "a/"], ["a/"]],
  ["all of it", ["x", "./", "a/b"], ["./"]],
  ["bytes that are no UTF-8", ["a/b\uFFFD/c", "a/d"], ["a/"]],
  ["a newline at the top", ["a\nb", "c"], ["./"]],
  ["a path that is too long", [`a/${"d".repeat(1990)}/${"e".repeat(200)}/f`], [`a/${"d".repeat(1990)}/`]],
  ["a hundred files", many(100, (n) => `d/${n}`), many(100, (n) => `d/${n}`).toSorted()],
  ["more than that", many(101, (n) => `d/e/${n}`), ["d/e/"]],
  ["more than that in few directories", many(200, (n) => `d/${n % 7}/${n}`), many(7, (n) => `d/${n}/`)],
  ["more than that at the top", many(101, (n) => `${n}`), ["./"]],
])("%s", (_, paths, named) => {
  expect(nameMissing(paths)).toEqual(named);
});
