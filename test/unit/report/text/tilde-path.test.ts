import { expect, test } from "vitest";
import { tildePath } from "../../../../src/report/text/tilde-path.js";

test.each([
  ["/home/me", "~"],
  ["/home/me/vit", "~/vit"],
  ["/home/meadow", "/home/meadow"],
  ["/data/vit", "/data/vit"],
])("%s", (dir, expected) => {
  expect(tildePath(dir, "/home/me")).toBe(expected);
});

test("without a home directory nothing is below it", () => {
  expect(tildePath("/data", "/")).toBe("/data");
});
