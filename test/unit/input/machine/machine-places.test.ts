import { describe, expect, test } from "vitest";
import {
  candidatePaths,
  describeSearch,
  expandHome,
  hintAtExisting,
  looksLikeMachineFile,
  nameMachines,
} from "../../../../src/input/machine/machine-places.js";

describe("where a machine file is searched, in order", () => {
  test("a bare name: as given and with both endings, in four places", () => {
    expect(candidatePaths("m1", "/home/me")).toEqual([
      "m1",
      "m1.yaml",
      "m1.yml",
      "machines/m1",
      "machines/m1.yaml",
      "machines/m1.yml",
      "/home/me/.config/sshoal/machines/m1",
      "/home/me/.config/sshoal/machines/m1.yaml",
      "/home/me/.config/sshoal/machines/m1.yml",
      "/home/me/.local/var/m1",
      "/home/me/.local/var/m1.yaml",
      "/home/me/.local/var/m1.yml",
    ]);
  });

  test.each([
    [
      "m1.yaml",
      [
        "m1.yaml",
        "machines/m1.yaml",
        "/home/me/.config/sshoal/machines/m1.yaml",
        "/home/me/.local/var/m1.yaml",
      ],
    ],
    [
      "lab/m1.yml",
      [
        "lab/m1.yml",
        "machines/lab/m1.yml",
        "/home/me/.config/sshoal/machines/lab/m1.yml",
        "/home/me/.local/var/lab/m1.yml",
      ],
    ],
    ["/etc/m1.yaml", ["/etc/m1.yaml"]],
    ["./m1", ["./m1", "./m1.yaml", "./m1.yml"]],
    ["../m1.yaml", ["../m1.yaml"]],
    ["~/m1.yaml", ["/home/me/m1.yaml"]],
  ])("%s", (name, paths) => {
    expect(candidatePaths(name, "/home/me")).toEqual(paths);
  });

  test("is described in a few words", () => {
    expect(describeSearch("m1", "/h")).toBe(
      "m1, m1.yaml, m1.yml in ., machines, /h/.config/sshoal/machines, /h/.local/var",
    );
    expect(describeSearch("/x/m1.yaml", "/h")).toBe("/x/m1.yaml");
  });
});

test.each([
  ["m.yaml", true],
  ["dir/m.yml", true],
  ["M.YAML", true],
  ["run.sh", false],
  ["yaml", false],
  ["m.yaml.sh", false],
  ["", false],
])("%j looks like a machine file: %s", (path, expected) => {
  expect(looksLikeMachineFile(path)).toBe(expected);
});

describe("machines have the names of their files", () => {
  test.each([
    ["different names", ["a.yaml", "machines/b.yaml"], ["a.yaml", "b.yaml"]],
    ["the same name in two places", ["x/a.yaml", "y/a.yaml", "y/b.yaml"], ["x/a.yaml", "y/a.yaml", "b.yaml"]],
    ["one of them here", ["a.yaml", "machines/a.yaml"], ["a.yaml", "machines/a.yaml"]],
    ["the name of an object's property", ["constructor", "x/toString"], ["constructor", "toString"]],
    ["the name of a host", ["lab/gpu1", "gpu1.yaml"], ["lab/gpu1", "gpu1.yaml"]],
    ["none", [], []],
  ])("%s", (_, paths, names) => {
    expect(nameMachines(paths, ["gpu1"])).toEqual(names);
  });
});

describe("what to type instead", () => {
  const existing = ["machines/titan1.yaml", "machines/titan2.yml", "machines/saturn.yaml"];

  test.each([
    ["titna1", "did you mean machines/titan1.yaml or machines/titan2.yml?"],
    ["lab/satrun.yaml", "did you mean machines/saturn.yaml?"],
    ["uranos", "did you mean uranus?"],
    ["jupiter", "there are machines/titan1.yaml, machines/titan2.yml, machines/saturn.yaml, uranus"],
  ])("%s", (name, hint) => {
    expect(hintAtExisting(name, existing, ["uranus"])).toBe(hint);
  });

  test("without any machine file or alias", () => {
    expect(hintAtExisting("m1", [], [])).toBeNull();
  });
});

test.each([
  ["~", "/home/me"],
  ["~/x", "/home/me/x"],
  ["~ben/x", "~ben/x"],
  ["a/~/x", "a/~/x"],
])("%s expands to %s", (path, expanded) => {
  expect(expandHome(path, "/home/me")).toBe(expanded);
});
