import { appendFile, rename } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyBeyond, newCursor } from "../../../../src/batch/output/output-file.js";
import { ReaderLeft, writeTo } from "../../../../src/cli/terminal/byte-sink.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let shown: Buffer;
const write = async (bytes: Buffer) => {
  shown = Buffer.concat([shown, bytes]);
};

beforeEach(async () => {
  work = await makeWorkspace();
  shown = Buffer.alloc(0);
});
afterEach(() => work.remove());

test("a growing file is shown piece by piece, with any bytes in it", async () => {
  const path = work.path("out");
  const cursor = newCursor();
  expect(await copyBeyond(path, cursor, write)).toBe(null);
  const bytes = Buffer.from([0, 255, 10, 27, 128]);
  await appendFile(path, bytes);
  expect(await copyBeyond(path, cursor, write)).toBe(5);
  expect(await copyBeyond(path, cursor, write)).toBe(0);
  await appendFile(path, "more");
  expect(await copyBeyond(path, cursor, write)).toBe(4);
  expect(shown).toEqual(Buffer.concat([bytes, Buffer.from("more")]));
});

test("output that was already shown from the machine is not shown again", async () => {
  const path = await work.write("out", "first second");
  expect(await copyBeyond(path, { ...newCursor(), offset: 6 }, write)).toBe(6);
  expect(shown.toString()).toBe("second");
});

test("another attempt's file is shown from its beginning", async () => {
  const path = await work.write("out", "a long first attempt");
  const cursor = newCursor();
  await copyBeyond(path, cursor, write);
  await rename(path, `${path}.old-1`);
  await work.write("out", "second");
  expect(await copyBeyond(path, cursor, write)).toBe(6);
  expect(shown.toString()).toBe("a long first attemptsecond");
});

test("a reader that has left is distinguished from a failure", async () => {
  const stream = new PassThrough();
  stream.on("error", () => {});
  stream.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  await expect(writeTo(stream)(Buffer.from("x"))).rejects.toBeInstanceOf(ReaderLeft);
});
