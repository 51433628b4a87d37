// Comments and messages name their actors and use plain words, for readers whose first language is not English.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Files and directories whose text is checked. Add one once it is clean. */
const CLEAN: readonly string[] = [
  "src",
  "bench",
  "test/unit",
  "test/e2e",
  "test/rig",
  "test/soak",
  "test/torture",
  "docs",
  "README.md",
  "CONTRIBUTING.md",
];
/** It has such words as examples. */
const THIS_FILE = "test/unit/plain-english.test.ts";
const TEXT_FILE = /\.(ts|mjs|sh|bash|html|css|md)$/;
const UNCLEAR = /\b(whoever|somebody|nobody|anybody|over there|mend(s|ed|ing)?)\b/i;

test("no comment or message has an unclear word", () => {
  const found = CLEAN.flatMap(filesBelow).flatMap((file) =>
    unclearLines(file, readFileSync(file, "utf8")).map((line) => `${file}:${line}`),
  );
  expect(found).toEqual([]);
});

test.each([
  ["a.ts", "/** Whoever comes second leaves. */", [1]],
  ["a.ts", 'const one = 1; // nobody knows\nconst two = "mend it";', [1, 2]],
  ["a.ts", "/**\n * Left\n * over there.\n */", [3]],
  ["a.ts", "const nobody = 65534;\nchown(nobody); // amend, recommend", []],
  ["a.sh", "nobody=1\nkill $nobody # over there\necho 'nobody'", [2, 3]],
  ["a.md", "It is for anybody.\n", [1]],
])("%s with %j has unclear words in lines %j", (file, text, lines) => {
  expect(unclearLines(file, text)).toEqual(lines);
});

function filesBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path, { recursive: true, encoding: "utf8" });
  return names.map((name) => join(path, name)).filter((file) => TEXT_FILE.test(file) && file !== THIS_FILE);
}

/** The numbers, from 1, of the lines with such a word in what a person reads. */
function unclearLines(file: string, text: string): number[] {
  return text.split("\n").flatMap((line, index) => (UNCLEAR.test(proseOf(file, line)) ? [index + 1] : []));
}

/** The comment and the quoted texts of a line of code; all of a line of other text. Names of variables are no prose. */
function proseOf(file: string, line: string): string {
  if (/\.(md|html|css)$/.test(file)) return line;
  if (/^\s*(\/?\*|\/\/|#)/.test(line)) return line;
  const comment = /\s(?:\/\/|#)\s(.*)$/.exec(line)?.[1] ?? "";
  const quoted = line.match(/"[^"]*"|'[^']*'|`[^`]*`/g) ?? [];
  return [comment, ...quoted.map((word) => word.replace(/\$\{[^}]*\}|\$\w+/g, ""))].join(" ");
}
