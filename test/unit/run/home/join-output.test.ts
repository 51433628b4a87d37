import { afterEach, beforeEach, expect, test } from "vitest";
import { joinOutput } from "../../../../src/run/home/join-output.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let box: Workspace;

beforeEach(async () => {
  box = await makeWorkspace();
});
afterEach(() => box.remove());

const LONG = "0123456789".repeat(1000);

test.each([
  ["the archive has all of it", "one\n", "one\ntwo\n", 0, "one\ntwo\n"],
  ["nothing is new", "one\n", "one\n", 0, "one\n"],
  ["it was emptied, and has less now", "one\ntwo\n", "three\n", 0, "one\ntwo\nthree\n"],
  ["it was emptied, and has more now", "one\n", "three\nfour\n", 0, "one\nthree\nfour\n"],
  ["it was emptied before, and that was noticed", "one\ntwo\n", "two\nthree\n", 4, "one\ntwo\nthree\n"],
  ["it was emptied before, and nothing has arrived since", "one\n", "two\n", 4, "one\ntwo\n"],
  ["it was emptied once more", "one\ntwo\n", "three\n", 4, "one\ntwo\nthree\n"],
  ["it was emptied, and nothing was printed since", "one\n", "", 0, "one\n"],
  ["much of it", LONG, `${LONG}end`, 0, `${LONG}end`],
  ["much of it was replaced", LONG, `${LONG.slice(0, -1)}-end`, 0, `${LONG}${LONG.slice(0, -1)}-end`],
  ["much of it, after it was emptied", `one\n${LONG}`, `${LONG}end`, 4, `one\n${LONG}end`],
])("%s", async (_, here, arrived, kept, expected) => {
  await box.write("here", here);
  await box.write("arrived", arrived);
  for (const again of [false, true]) {
    joinOutput(box.path("here"), box.path("arrived"), kept);
    expect(await box.read("arrived")).toBe(expected);
    if (again) return;
    // After a crash the same archive may arrive again when the output is already in place.
    await box.write("here", expected);
    await box.write("arrived", arrived);
  }
});
