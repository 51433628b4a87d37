import { chmod, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadBatch } from "../../../../src/input/batch/load-batch.js";
import { asOrdinaryUser, errorOf, type InputBox, makeInputBox } from "../input-box.js";

let box: InputBox;
let cwd: string;

beforeEach(async () => {
  box = await makeInputBox();
  cwd = box.cwd;
});
afterEach(() => box.remove());

test("jobs are named for the path as typed", async () => {
  const path = await box.write("project/run.sh", "echo a\n");
  expect((await loadBatch(path)).jobs).toEqual([
    { id: 1, line: 1, name: `${path.replaceAll("/", "_")}.1`, command: "echo a" },
  ]);
});

test("a missing script: the nearest one is suggested", async () => {
  await box.write("project/batch_script.sh", "a");
  const path = join(cwd, "batch_scirpt.sh");
  const error = await errorOf(loadBatch(path));
  expect(error.message).toBe(`${path}: there is no such script`);
  expect(error.hint).toBe(`did you mean ${join(cwd, "batch_script.sh")}?`);
});

test("a missing script, and none with a similar name", async () => {
  const error = await errorOf(loadBatch(join(cwd, "x.sh")));
  expect(error.hint).toBe(`check the path with ls ${cwd}`);
});

test("a script below a file", async () => {
  const path = await box.write("project/run.sh", "a");
  expect((await errorOf(loadBatch(`${path}/x.sh`))).message).toMatch(/no such script$/);
});

test("a link to a missing file is not suggested instead of itself", async () => {
  await symlink("gone", join(cwd, "run.sh"));
  expect((await errorOf(loadBatch(join(cwd, "run.sh")))).hint).toMatch(/^check the path/);
});

test("a directory", async () => {
  const error = await errorOf(loadBatch(cwd));
  expect(error.message).toBe(`${cwd}: is a directory, not a script`);
  expect(error.hint).toBe("name the script in it");
});

test("a script that cannot be read", async () => {
  const path = await box.write("project/run.sh", "a");
  await chmod(path, 0);
  const error = await asOrdinaryUser(() => errorOf(loadBatch(path)));
  expect(error.message).toBe(`${path}: the script cannot be read`);
  expect(error.hint).toBe(`ls -l ${path}`);
});

test("a link to itself", async () => {
  await symlink("loop.sh", join(cwd, "loop.sh"));
  expect((await errorOf(loadBatch(join(cwd, "loop.sh")))).message).toMatch(/cannot be read$/);
});

test("a script without jobs", async () => {
  expect((await errorOf(loadBatch(await box.write("project/run.sh", "")))).message).toMatch(/no job in it$/);
});

test("a script without end is refused before it fills the memory", async () => {
  const error = await errorOf(loadBatch("/dev/zero", undefined, 1 << 20));
  expect(error.message).toBe("/dev/zero: is too large for a script (more than 1048576 bytes)");
});
