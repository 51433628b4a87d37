// What tools accept, and what clients read about it.

import { expect, test } from "vitest";
import { UserError } from "../../../src/errors.js";
import { TOOLS } from "../../../src/mcp/all-tools.js";
import {
  amount,
  choice,
  flag,
  list,
  readArguments,
  text,
  variables,
  whole,
  word,
} from "../../../src/mcp/call/arguments.js";
import { Seen } from "../../../src/mcp/call/seen.js";
import { batchText } from "../../../src/mcp/tools/batch-text.js";
import { envWords, needWords, ownWords } from "../../../src/mcp/tools/need-fields.js";

const FIELDS = {
  name: word("A name."),
  text: text("A text.", 10),
  count: whole("A count.", 1, 9),
  share: amount("A share.", 2),
  isOn: flag("On or off."),
  kind: choice("A kind.", ["a", "b"]),
  words: list("Words.", word("A word."), 2),
  env: variables("Variables."),
};

const read = (given: unknown) => readArguments(FIELDS, [], given);

function problemsOf(given: unknown): readonly { where: string; message: string }[] {
  try {
    read(given);
  } catch (error) {
    if (error instanceof UserError) return error.problems;
    throw error;
  }
  return [];
}

test("good arguments are taken as they are, null is absent, and one word stands for a list of it", () => {
  const given = { name: "x", text: "a\nb", count: 9, share: 0.5, isOn: false, kind: "b", env: { A: "" } };
  expect(read({ ...given, words: "w" })).toEqual({ ...given, words: ["w"] });
  expect(read({ name: null, words: ["a", "b"] })).toEqual({ words: ["a", "b"] });
  expect(read(undefined)).toEqual({});
});

test.each<[object, string]>([
  [{ name: "-x" }, "name"],
  [{ name: "a\nb" }, "name"],
  [{ name: "a\0b" }, "name"],
  [{ name: 7 }, "name"],
  [{ name: " " }, "name"],
  [{ text: "x".repeat(11) }, "text"],
  [{ count: 0 }, "count"],
  [{ count: 1.5 }, "count"],
  [{ count: "3" }, "count"],
  [{ share: Number.NaN }, "share"],
  [{ isOn: "true" }, "isOn"],
  [{ kind: "c" }, "kind"],
  [{ words: [] }, "words"],
  [{ words: ["a", "b", "c"] }, "words"],
  [{ words: ["a", "--json"] }, "words[1]"],
  [{ env: { "A=B": "x" } }, "env.A=B"],
  [{ env: { A: 1 } }, "env.A"],
  [{ env: ["A"] }, "env"],
  [{ nmae: "x" }, "nmae"],
  [{ constructor: "x" }, "constructor"],
])("%j is refused, at %s", (given, where) => {
  expect(problemsOf(given).map((problem) => problem.where)).toEqual([where]);
});

test("all mistakes are reported, and a missing argument is named", () => {
  expect(problemsOf({ count: 0, share: -1 })).toHaveLength(2);
  expect(() => readArguments(FIELDS, ["name"], {})).toThrow("name: this argument is needed");
  expect(() => readArguments(FIELDS, [], [])).toThrow("arguments: must be an object");
});

test("every tool has a description and a closed schema, and every argument has a description", () => {
  for (const { name, about, inputSchema, fields } of TOOLS) {
    expect(about.length, name).toBeGreaterThan(40);
    expect(inputSchema.additionalProperties).toBe(false);
    for (const field of Object.values(fields)) expect(field.schema.description).toMatch(/^[A-Z].*\.$/);
  }
});

test("needs become options, one word per item", () => {
  expect(needWords({ cpus: 0.5, memoryMb: 100, gpus: 0 })).toEqual(
    "--num-cpus 0.5 --memory-required 100 --no-gpu-required".split(" "),
  );
  expect(needWords({ gpus: 0.5, gpuMemoryMb: 2000, gpuModel: "A100|H100", timeoutSeconds: 60 })).toEqual(
    "--gpus-per-job 0.5 --gpu-memory-required 2000 --gpu-model A100|H100 --timeout 60s".split(" "),
  );
});

test("a command's own needs become a line above it, with quotes where the shell needs them", async () => {
  const own = {
    command: "./train",
    name: "a",
    after: ["b", "c"],
    gpuModel: "RTX 4090",
    resources: { nvme: 0.5 },
  };
  expect(ownWords(own).join(" ")).toBe(
    `--name a --after b,c --gpu-model 'RTX 4090' --require '{"nvme":0.5}'`,
  );
  expect(await batchText([{ command: "one", name: "b" }, "two", { command: "three\\\n4", cpus: 2 }])).toBe(
    "#@ --name b\none\ntwo\n#@ --num-cpus 2\nthree\\\n4\n",
  );
});

test.each([
  [["true", "echo a\necho b"], "commands[1]"],
  [["true", ""], "commands"],
  [["if true", "then echo", "fi"], "commands"],
  [["echo 'a", "b'"], "commands"],
  [["a \\", "b"], "commands"],
  [["cat <<X", "X"], "commands"],
  [["true", "#@ --name x"], "commands"],
])("commands that are not one job each are refused: %j", async (commands, where) => {
  await expect(batchText(commands)).rejects.toThrow(where);
});

test("variables that would change sshoal itself are refused", () => {
  expect(envWords({ WANDB_MODE: "offline", A: "1" })).toEqual(["--env", "WANDB_MODE", "--env", "A"]);
  for (const name of ["PATH", "NODE_OPTIONS", "SSHOAL_SERVER", "LD_PRELOAD", "HOME"])
    expect(() => envWords({ [name]: "x" })).toThrow("would change sshoal");
});

test("a cursor holds all rows that were given up to it, and unknown or old ones are refused", () => {
  const seen = new Seen();
  const first = seen.note(seen.given(undefined), new Map([["a 1", "x"]]));
  const second = seen.note(seen.given(first), new Map([["a 2", "y"]]));
  expect([...seen.given(second)]).toEqual([
    ["a 1", "x"],
    ["a 2", "y"],
  ]);
  expect([...seen.given(first)]).toEqual([["a 1", "x"]]);
  expect(() => seen.given("c99")).toThrow("is not known");
  for (let n = 0; n < 100; n += 1) seen.note(new Map(), new Map());
  expect(() => seen.given(first)).toThrow("is not known");
});
