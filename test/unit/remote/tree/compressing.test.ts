import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isSlow, shrinks } from "../../../../src/remote/tree/compressing.js";
import { scanTree } from "../../../../src/remote/tree/tree.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";
import { type LocalMachine, makeLocalMachine, never } from "../a-local-machine.js";

let work: Workspace;
let machine: LocalMachine;

beforeEach(async () => {
  work = await makeWorkspace();
  machine = await makeLocalMachine();
});
afterEach(async () => {
  await machine.close();
  await work.remove();
});

const isWorthIt = async () => shrinks(work.dir, (await scanTree(work.dir, ["."])).entries);

test("much text is compressible, little text is not checked", async () => {
  await work.write("log", "the same line again\n".repeat(500_000));
  expect(await isWorthIt()).toBe(false);
  await work.write("more", "the same line again\n".repeat(500_000));
  expect(await isWorthIt()).toBe(true);
});

test("random or compressed data is not, even with small files beside it", async () => {
  for (let n = 0; n < 20; n++) await work.write(`a${n}`, "text\n".repeat(100));
  await work.write("packed", randomBytes(20_000_000));
  expect(await isWorthIt()).toBe(false);
});

test("a lost connection does not count as slow", async () => {
  expect(await isSlow(machine.session, never)).toBe(false);
});

test("a machine that opens no further session is not measured", async () => {
  const session = { ...machine.session, exec: () => Promise.reject(new Error("no further session")) };
  expect(await isSlow(session, never)).toBe(false);
});
