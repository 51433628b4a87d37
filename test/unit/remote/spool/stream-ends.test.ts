import { expect, test } from "vitest";
import { END_BYTES, parseEnds } from "../../../../src/remote/spool/stream-ends.js";

const endOf = (bytes: Buffer | string) =>
  parseEnds([`size k ${Buffer.byteLength(bytes)}`], Buffer.from(bytes)).get("k");
const lines = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `line ${first + index}`).join("\n");

test("each attempt gets the bytes that are announced for it", () => {
  const ends = parseEnds(["size a 2", "size b 0", "size c 3"], Buffer.from("A\nCC\n"));
  expect([...ends]).toEqual([
    ["a", "A\n"],
    ["b", ""],
    ["c", "CC\n"],
  ]);
});

test("the last twenty lines, with or without the end of the last one", () => {
  expect(endOf(`${lines(1, 30)}\n`)).toBe(`${lines(11, 30)}\n`);
  expect(endOf(lines(1, 30))).toBe(lines(11, 30));
  expect(endOf(`${lines(1, 20)}\n`)).toBe(`${lines(1, 20)}\n`);
});

test("bytes that are no UTF-8 are replaced; a letter that was cut at the start is left out", () => {
  expect(endOf(Buffer.from([0xff, 0x0a]))).toBe("\ufffd\n");
  expect(endOf(Buffer.from([0x82, 0x61]))).toBe("\ufffda");
  const euro = Buffer.from("€".repeat(END_BYTES)).subarray(-END_BYTES);
  expect(endOf(euro)).toBe("€".repeat(Math.floor(END_BYTES / 3)));
  expect(endOf(Buffer.alloc(END_BYTES, 0x82))).toBe("\ufffd".repeat(END_BYTES));
});

test.each([[["size"]], [["size a"]], [["size a x"]], [["size a -3"]], [["size a 99999999"]]])(
  "an answer that makes no sense is no more than the bytes that came: %j",
  (answer) => {
    for (const text of parseEnds(answer, Buffer.from("abc")).values()) expect("abc").toContain(text);
  },
);
