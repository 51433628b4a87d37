import { expect, test } from "vitest";
import { configJson, configLines, type ShownConfig } from "../../../../src/report/tables/config-lines.js";

const PATH = "/home/ada/.config/sshoal/config.yaml";
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
  expect(configLines(NONE, null).join("\n")).toBe(
    [
      `  user file     none (${PATH})`,
      "  project file  none (/p/.sshoal.yaml, or in a directory above)",
      "",
      "nothing is set; to begin, write a file with lines such as",
      "  machines: [gpu1, gpu2]",
      "  memory-required: 4GB",
      `to ${PATH}`,
    ].join("\n"),
  );
});

test("each value with its file and line", () => {
  expect(configLines(SOME, null).join("\n")).toBe(
    [
      `  user file  ${PATH}`,
      "",
      "every command that has the option:",
      `  machines      @lab gpu3  ${PATH}:3`,
      `  copy-forward  (none)     ${PATH}:4`,
      "",
      "sshoal logs:",
      `  tail  100  ${PATH}:5`,
      "",
      "groups:",
      `  @lab  gpu1 gpu2  ${PATH}:2`,
    ].join("\n"),
  );
});

test("of one command all values stand together, or that there are none", () => {
  expect(configLines(SOME, "logs").filter((line) => line.startsWith("sshoal"))).toEqual(["sshoal logs:"]);
  expect(configLines({ ...SOME, settings: [] }, "logs")).toContain("nothing is set for sshoal logs");
});

test("as JSON", () => {
  expect(JSON.parse(configJson(SOME))).toEqual({
    v: 1,
    files: [{ level: "user", path: PATH, found: true }],
    settings: [
      { command: null, key: "machines", value: ["@lab", "gpu3"], ...at(3) },
      { command: null, key: "copy-forward", value: [], ...at(4) },
      { command: "logs", key: "tail", value: ["100"], ...at(5) },
    ],
    groups: [{ name: "lab", machines: ["gpu1", "gpu2"], ...at(2) }],
  });
});
