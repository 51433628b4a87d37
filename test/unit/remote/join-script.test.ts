import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { joinScript } from "../../../src/remote/join-script.js";

const runtime = new URL("../../../src/remote/runtime/", import.meta.url);
const entries = readdirSync(runtime, { recursive: true, encoding: "utf8" }).filter((name) =>
  /\.(sh|bash|awk)$/.test(name),
);
const parts = entries.filter((name) => name.includes("/"));
const scripts = entries.filter((name) => !name.includes("/"));
const joined = new Map(scripts.map((name) => [name, joinScript(new URL(name, runtime))]));

test("every part is in a joined script, and no script needs a part that a spool does not have", () => {
  const texts = [...joined.values()];
  const unused = parts.filter((part) => {
    const text = joinScript(new URL(part, runtime));
    return !texts.some((script) => script.includes(text));
  });
  expect(unused).toEqual([]);
  expect(texts.filter((script) => /^(\. \.\/[\w-]+\/|@include)/m.test(script))).toEqual([]);
});

describe.each(scripts)("%s", (name) => {
  test("has no comments, which every slot would read", () => {
    expect((joined.get(name) ?? "").split("\n").filter((line) => /^\s*#/.test(line))).toEqual([]);
  });

  test("defines each function once: no part replaces a function of another part", () => {
    const text = joined.get(name) ?? "";
    const functions = [...text.matchAll(/^(?:function (?=\w))?(\w+)\([^()]*\) \{$/gm)].map(
      ([, each = ""]) => each,
    );
    expect(functions.filter((each, index) => functions.indexOf(each) < index)).toEqual([]);
  });
});

test.each(entries)("%s has at most 200 lines", (name) => {
  const lines = readFileSync(new URL(name, runtime), "utf8").split("\n").length - 1;
  expect(lines).toBeLessThanOrEqual(200);
});
