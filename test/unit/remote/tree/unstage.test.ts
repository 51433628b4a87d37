import { existsSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { noTree } from "../../../../src/remote/tree/tree.js";
import { unstage } from "../../../../src/remote/tree/unstage.js";
import { type LocalMachine, makeLocalMachine, never } from "../a-local-machine.js";

const HASH = "a".repeat(40);
let machine: LocalMachine;

beforeEach(async () => {
  machine = await makeLocalMachine();
  await machine.write(`.sshoal/trees/${HASH}/data`, "1");
});
afterEach(() => machine.close());

const takeBack = () => {
  const tree = { ...noTree(machine.dir), hash: HASH };
  return unstage(machine.session, { place: machine.place, tree, signal: never });
};

test("the tree is removed, and our directories if they are empty", async () => {
  await takeBack();
  expect(existsSync(machine.path(".sshoal"))).toBe(false);
});

test("other trees stay, and so does one that a batch names", async () => {
  await machine.write(`.sshoal/trees/${"b".repeat(40)}/data`, "1");
  await machine.write(".sshoal/batches/other@elsewhere/trees", `${HASH}\n`);
  await takeBack();
  expect(existsSync(machine.path(".sshoal/trees", HASH, "data"))).toBe(true);
  expect(existsSync(machine.path(".sshoal/trees", "b".repeat(40), "data"))).toBe(true);
});
