import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonSink } from "../../../../src/cli/terminal/json-log.js";

const ABOUT = { batch: "b", job: 1, name: "x.sh.1", stream: "out" } as const;

interface Line {
  readonly text: string;
  readonly isPart?: true;
}

async function print(...pieces: readonly (string | Uint8Array)[]): Promise<Line[]> {
  const written: Buffer[] = [];
  const sink = jsonSink(async (bytes) => void written.push(bytes), ABOUT);
  for (const piece of pieces) await sink.write(Buffer.from(piece));
  await sink.settle();
  await sink.end();
  const lines = Buffer.concat(written).toString().split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => JSON.parse(line));
}

const texts = async (...pieces: (string | Uint8Array)[]) => (await print(...pieces)).map(({ text }) => text);

test("a line is an object, wherever it was cut on its way", async () => {
  expect(await print("one\ntw", "o\n\nthree")).toEqual([
    { v: 2, kind: "log-line", ...ABOUT, text: "one" },
    { v: 2, kind: "log-line", ...ABOUT, text: "two" },
    { v: 2, kind: "log-line", ...ABOUT, text: "" },
    { v: 2, kind: "log-line", ...ABOUT, text: "three" },
  ]);
  expect(await print("")).toEqual([]);
});

test("letters that come in two pieces are whole; bytes that are none are replaced", async () => {
  const euro = Buffer.from("€");
  expect(await texts(euro.subarray(0, 1), euro.subarray(1))).toEqual(["€"]);
  expect(await texts(Buffer.from([0xff, 0x0a, 0xe2]))).toEqual(["\ufffd", "\ufffd"]);
  expect(await texts("\x1b[31m\0\r\x9b\n")).toEqual(["\x1b[31m\0\r\x9b"]);
});

test("a line without end comes in parts, and no letter is cut", async () => {
  const long = `${"x".repeat((64 << 10) - 1)}${"😀".repeat(100_000)}`;
  const half = Buffer.from(long).length >> 1;
  const lines = await print(
    Buffer.from(long).subarray(0, half),
    Buffer.from(long).subarray(half),
    "\nnext\n",
  );
  expect(lines.map(({ text }) => text).join("")).toBe(`${long}next`);
  expect(lines.slice(-2)).toEqual([
    expect.not.objectContaining({ isPart: true }),
    expect.objectContaining({ text: "next" }),
  ]);
  for (const { text, isPart } of lines.slice(0, -2)) {
    expect(isPart).toBe(true);
    expect(text.length).toBeLessThanOrEqual(64 << 10);
    expect(Buffer.from(text).toString()).toBe(text);
  }
});

test("however the bytes are cut, the texts are the same", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme", maxLength: 50 }),
      fc.array(fc.nat(60)),
      async (text, cuts) => {
        const bytes = Buffer.from(text);
        const ends = [...cuts, bytes.length].sort((a, b) => a - b);
        const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        expect(await texts(...pieces)).toEqual(await texts(bytes));
      },
    ),
  );
});
