import { expect, test } from "vitest";
import {
  type ConfigLook,
  configJson,
  configLines,
  type ShownConfig,
} from "../../../../src/report/tables/config-lines.js";

const PATH = "/home/ada/.config/sshoal/config.yaml";
const SHORT = "~/.config/sshoal/config.yaml";
const LOOK: ConfigLook = { homeDir: "/home/ada", columns: Number.POSITIVE_INFINITY };
const NONE: ShownConfig = {
  files: [
    { level: "user", path: PATH, isThere: false },
    { level: "project", path: "/p/.sshoal.yaml", isThere: false },
  ],
  settings: [],
  groups: [],
};
const at = (line: number) => ({ file: PATH, line, column: 1 });
const SOME: ShownConfig = {
  files: [{ level: "user", path: PATH, isThere: true }],
  settings: [
    { command: null, key: "machines", words: ["@lab", "gpu3"], origin: at(3) },
    { command: null, key: "copy-forward", words: [], origin: at(4) },
    { command: "logs", key: "tail", words: ["100"], origin: at(5) },
  ],
  groups: [{ name: "lab", machines: ["gpu1", "gpu2"], origin: at(2) }],
};

test("without files: where they would be, and how to begin", () => {
  expect(configLines(NONE, null, LOOK).join("\n")).toBe(
    [
      `  user file     none (${SHORT})`,
      "  project file  none (/p/.sshoal.yaml, or in a directory above)",
      "",
      "nothing is set; to begin, write a file with lines such as",
      "  machines: [gpu1, gpu2]",
      "  memory-required: 4GB",
      `to ${SHORT}`,
    ].join("\n"),
  );
});

test("each value with its file and line", () => {
  expect(configLines(SOME, null, LOOK).join("\n")).toBe(
    [
      `  user file  ${SHORT}`,
      "",
      "every command that has the option:",
      `  machines      @lab gpu3  ${SHORT}:3`,
      `  copy-forward  (none)     ${SHORT}:4`,
      "",
      "sshoal logs:",
      `  tail  100  ${SHORT}:5`,
      "",
      "groups:",
      `  @lab  gpu1 gpu2  ${SHORT}:2`,
    ].join("\n"),
  );
});

test("of one command all values stand together, or that there are none", () => {
  expect(configLines(SOME, "logs", LOOK).filter((line) => line.startsWith("sshoal"))).toEqual([
    "sshoal logs:",
  ]);
  expect(configLines({ ...SOME, settings: [] }, "logs", LOOK)).toContain("nothing is set for sshoal logs");
});

test("rows fit into a terminal: a long value continues below itself", () => {
  const words = Array.from({ length: 12 }, (_, index) => `pattern-${index}/`);
  const settings = [...SOME.settings, { command: null, key: "exclude", words, origin: at(10) }];
  const lines = configLines({ ...SOME, settings }, null, { ...LOOK, columns: 80 });
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  const first = lines.findIndex((line) => line.startsWith("  exclude"));
  expect(lines[first]?.split(/ {2,}/)).toEqual(["", "exclude", "pattern-0/ pattern-1/", `${SHORT}:10`]);
  expect(lines[first + 1]).toBe("                pattern-2/ pattern-3/");
  expect(lines.join(" ").match(/pattern-\d+/g)).toHaveLength(words.length);
});

test("as JSON", () => {
  expect(JSON.parse(configJson(SOME))).toEqual({
    v: 1,
    kind: "config",
    files: [{ level: "user", path: PATH, found: true }],
    settings: [
      { command: null, key: "machines", value: ["@lab", "gpu3"], ...at(3) },
      { command: null, key: "copy-forward", value: [], ...at(4) },
      { command: "logs", key: "tail", value: ["100"], ...at(5) },
    ],
    groups: [{ name: "lab", machines: ["gpu1", "gpu2"], ...at(2) }],
  });
});
