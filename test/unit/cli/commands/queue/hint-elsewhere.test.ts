import { expect, test } from "vitest";
import { hintElsewhere, withServer } from "../../../../../src/cli/commands/queue/hint-elsewhere.js";
import { UserError } from "../../../../../src/errors.js";

test.each([
  ["sshoal show train", "sshoal show train --server lab"],
  ["sshoal show", "sshoal show --server lab"],
  [
    "sshoal queue list, or sshoal queue create x",
    "sshoal queue list --server lab, or sshoal queue create x --server lab",
  ],
  [
    "sshoal remove q --state failed, or all: sshoal remove q --state failed,stopped",
    "sshoal remove q --state failed --server lab, or all: sshoal remove q --state failed,stopped --server lab",
  ],
  ["did you mean train/8?", "did you mean train/8?"],
  ["sshoal show prints the jobs once", "sshoal show prints the jobs once"],
  ["sshoal queue list --server lab", "sshoal queue list --server lab"],
  ["it is held: sshoal release q/2", "it is held: sshoal release q/2 --server lab"],
  ["drained: sshoal undrain q/gpu1", "drained: sshoal undrain q/gpu1 --server lab"],
])("the hint %j names the server", (hint, expected) => {
  expect(withServer(hint, "lab")).toBe(expected);
});

test("a mistake keeps its words and its exit code, and without --server also its hint", async () => {
  const work = async () => {
    throw new UserError("no job", { hint: "sshoal show q", exitCode: 3 });
  };
  const mistake = { message: "no job", exitCode: 3 };
  await expect(hintElsewhere("a b", work)).rejects.toMatchObject({
    ...mistake,
    hint: "sshoal show q --server 'a b'",
  });
  await expect(hintElsewhere(null, work)).rejects.toMatchObject({ ...mistake, hint: "sshoal show q" });
});
