import { symlink } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resolveCopying } from "../../../../src/batch/forward/copy-paths.js";
import { UserError } from "../../../../src/errors.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;

beforeEach(async () => {
  work = await makeWorkspace({ "src/a.py": "", "a b/..c/x": "", "..d": "", "-e": "" });
});
afterEach(() => work.remove());

const ASKED = { machines: ["gpu1"], copyForward: null, copyBackwards: null, copiesUnchanged: false };

function resolveForward(copyForward: string[], dir: string) {
  return resolveCopying({ ...ASKED, copyForward }, dir).copyForward;
}

function resolveBackwards(copyBackwards: string[], dir: string) {
  return resolveCopying({ ...ASKED, copyBackwards }, dir).copyBack;
}

const BOTH = [
  ["--copy-forward", resolveForward],
  ["--copy-backwards", resolveBackwards],
] as const;

describe.each(BOTH)("%s", (flag, resolve) => {
  test.each([
    ["./", "."],
    [".", "."],
    ["", "."],
    ["src", "src"],
    ["./src/", "src"],
    ["src/../src/a.py", "src/a.py"],
    ["a b/..c", "a b/..c"],
    ["..d", "..d"],
    ["-e", "-e"],
  ])("%j is %j", (typed, relative) => {
    expect(resolve([typed], work.dir)).toEqual([relative]);
  });

  test("an absolute path inside the directory also works", () => {
    expect(resolve([work.path("src"), work.dir], work.dir)).toEqual(["src", "."]);
  });

  test("every mistake is reported with its flag", () => {
    let message = "";
    try {
      resolve(["../x", "src", "/etc", "..", "src/../..", "new\nline"], work.dir);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      message = error.message;
    }
    const outside = `: it is outside the working directory ${work.dir}`;
    for (const bad of ["../x", "/etc", "..", "src/../.."])
      expect(message).toContain(`${flag} ${bad}${outside}`);
    expect(message).toContain("its name contains a newline");
    expect(message).not.toContain(`${flag} src:`);
  });
});

test("a path to copy to the machine must exist; a path to copy back need not", async () => {
  await symlink("nowhere", work.path("dangling"));
  expect(() => resolveForward(["missing"], work.dir)).toThrow(
    "--copy-forward missing: there is no such file or directory",
  );
  expect(resolveBackwards(["missing", "deep/er"], work.dir)).toEqual(["missing", "deep/er"]);
});

test("on other machines, jobs get a copy of everything unless a path is given", () => {
  expect(resolveCopying(ASKED, work.dir)).toEqual({ inPlace: null, copyForward: ["."], copyBack: ["."] });
});

describe("on this machine", () => {
  const here = { ...ASKED, machines: [] };

  test("jobs run in the user's directory", () => {
    expect(resolveCopying(here, work.dir)).toMatchObject({ inPlace: work.dir, copyForward: [] });
  });

  test("jobs get copies if a path is given", () => {
    const copying = resolveCopying({ ...here, copyForward: ["src"], copyBackwards: ["out"] }, work.dir);
    expect(copying).toEqual({ inPlace: null, copyForward: ["src"], copyBack: ["out"] });
  });

  test.each([
    ["--copy-backwards", { copyBackwards: ["out"] }],
    ["--copy-unchanged", { copiesUnchanged: true }],
  ])("%s alone is refused", (flag, asked) => {
    expect(() => resolveCopying({ ...here, ...asked }, work.dir)).toThrow(`${flag} has no effect`);
  });
});
