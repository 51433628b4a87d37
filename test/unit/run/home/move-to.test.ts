import { lstatSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { moveTo } from "../../../../src/run/home/move-to.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;

beforeEach(async () => {
  work = await makeWorkspace({ "from/d/run.sh": "#!/bin/sh\n", "from/x": "1" });
});
afterEach(() => work.remove());

const refuseWith = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};

test("what is on another file system arrives whole, with its modes and links, and leaves nothing there or beside", () => {
  symlinkSync("../x", work.path("from/d/link"));
  moveTo(work.path("from"), work.path("to"), refuseWith("EXDEV"));
  expect(readFileSync(work.path("to/x"), "utf8")).toBe("1");
  expect(readlinkSync(work.path("to/d/link"))).toBe("../x");
  expect(lstatSync(work.path("to/d/run.sh")).mode & 0o111).toBe(0o111);
  expect(readdirSync(work.dir)).toEqual(["to"]);
});

test("any other error is passed on, and nothing has changed", () => {
  expect(() => moveTo(work.path("from"), work.path("to"), refuseWith("ENOSPC"))).toThrow("ENOSPC");
  expect(readdirSync(work.dir)).toEqual(["from"]);
});
