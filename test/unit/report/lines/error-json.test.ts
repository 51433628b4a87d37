import { expect, test } from "vitest";
import { ExitCode, problemsError, UserError } from "../../../../src/errors.js";
import { errorJson } from "../../../../src/report/lines/error-json.js";

const objects = (error: unknown) => errorJson(error, 7).map((line) => JSON.parse(line));

test("each mistake is an object of its own, with its place", () => {
  const error = problemsError([
    { where: "a.sh:1", message: "no end", hint: "bash -n a.sh" },
    { where: "a.sh:7:3", message: "no start" },
  ]);
  const about = { v: 2, kind: "error", at: 7, exitCode: 2 };
  expect(objects(error)).toEqual([
    { ...about, message: "no end", where: "a.sh:1", hint: "bash -n a.sh" },
    { ...about, message: "no start", where: "a.sh:7:3", hint: null },
  ]);
});

test("an error without a place, with its own exit code", () => {
  const error = new UserError("gpu1 cannot be reached", { hint: "ssh gpu1", exitCode: ExitCode.NoMachine });
  expect(objects(error)).toEqual([
    {
      v: 2,
      kind: "error",
      at: 7,
      message: "gpu1 cannot be reached",
      where: null,
      hint: "ssh gpu1",
      exitCode: 3,
    },
  ]);
});

test.each([
  [new TypeError("x is undefined"), "x is undefined"],
  ["thrown text", "thrown text"],
  [undefined, "undefined"],
])("anything else is a bug: %s", (thrown, text) => {
  expect(objects(thrown)).toMatchObject([
    { message: `sshoal has a bug: ${text}`, where: null, exitCode: 70 },
  ]);
});

test("one line, whatever the message holds", () => {
  const message = "a\nb\x1b[2J\x9b\u2028c";
  const [line = ""] = errorJson(new UserError(message), 7);
  expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/);
  expect(JSON.parse(line).message).toBe(message);
});
