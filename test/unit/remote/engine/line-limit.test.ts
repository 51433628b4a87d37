import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { shortLines } from "../../../../src/remote/engine/line-limit.js";

async function read(...chunks: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of shortLines(Readable.from(chunks.map((text) => Buffer.from(text))), "it"))
    lines.push(line);
  return lines;
}

test("lines are cut correctly for any chunks, and the last one needs no end", async () => {
  expect(await read("one\ntw", "o\n", "\nthr", "ee")).toEqual(["one", "two", "", "three"]);
});

test("a line that is too long is refused, with the name of its sender", async () => {
  const chunks = Array.from({ length: 100 }, () => "x".repeat(1000));
  await expect(read("one\n", ...chunks)).rejects.toThrow("it sent a line of more than 64 kB");
});
