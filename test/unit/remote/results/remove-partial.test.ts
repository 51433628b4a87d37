import { existsSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkReported, removePartial } from "../../../../src/remote/results/remove-partial.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

const keys = new Set(["5000000000001-1-1"]);
const KEY = "5000000000001-1-1";

describe("names in a report", () => {
  test.each([`${KEY}/work/a/b`, `${KEY}/work/a/`, `${KEY}/out`, `${KEY}/work/./a`])(
    "%s is below its job",
    (name) => {
      expect(() => checkReported([name], keys)).not.toThrow();
    },
  );

  test.each([
    "../precious",
    `${KEY}/work/../../../precious`,
    "/etc/passwd",
    "5000000000002-2-1/work/a",
    `${KEY}//etc`,
    "",
    `${KEY}/work/a\0b`,
  ])("%j is refused", (name) => {
    expect(() => checkReported([`${KEY}/work/a`, name], keys)).toThrow(
      `the report it sent cannot be trusted: it names ${JSON.stringify(name)}`,
    );
  });
});

describe("files of which a part is missing", () => {
  let work: Workspace;
  beforeEach(async () => {
    work = await makeWorkspace({
      [`into/${KEY}/work/a`]: "a",
      [`into/${KEY}/work/b`]: "b",
      "outside/a": "mine",
    });
  });
  afterEach(() => work.remove());

  test("are removed, and nothing else", () => {
    removePartial(work.path("into"), [`${KEY}/work/a`, `${KEY}/work/absent`]);
    expect(existsSync(work.path(`into/${KEY}/work/a`))).toBe(false);
    expect(existsSync(work.path(`into/${KEY}/work/b`))).toBe(true);
  });

  test("are not looked for behind a link of the results", () => {
    symlinkSync(work.path("outside"), work.path(`into/${KEY}/work/link`));
    removePartial(work.path("into"), [`${KEY}/work/link/a`]);
    expect(existsSync(work.path("outside/a"))).toBe(true);
  });
});
