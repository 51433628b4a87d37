import { afterEach, beforeEach, expect, test } from "vitest";
import { stateKeptHere } from "../../../../src/batch/clean/state-kept-here.js";
import { rememberDirectory } from "../../../../src/batch/find/known-directories.js";
import { NoticeStore } from "../../../../src/batch/notice/notice-store.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(() => work.remove());

test("known directories and notifications of all computers are shown, and kept", async () => {
  const stateDir = work.path("state");
  for (const computer of ["laptop", "desk"]) rememberDirectory({ stateDir, computer }, work.dir);
  const store = new NoticeStore({ stateDir, computer: "laptop" }, work.dir, "train.sh");
  expect(store.save({ command: "true", on: "end" }, 0)).toBe(true);
  const kept = { place: stateDir, batch: null, end: "kept", bytes: expect.any(Number) };
  expect(await stateKeptHere(stateDir)).toMatchObject([
    { ...kept, what: "known directories", count: 2 },
    { ...kept, what: "notifications", count: 1 },
  ]);
});

test("where there is nothing, or what is there is not ours, there is no row", async () => {
  await work.write("state/notices@laptop", "no directory");
  await work.write("state/other/file", "");
  expect(await stateKeptHere(work.path("state"))).toEqual([]);
  expect(await stateKeptHere(work.path("missing"))).toEqual([]);
  expect(await stateKeptHere(null)).toEqual([]);
});
