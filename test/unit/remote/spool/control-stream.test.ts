import fc from "fast-check";
import { expect, test } from "vitest";
import { type ControlItem, readControl } from "../../../../src/remote/spool/control-stream.js";

async function read(chunks: readonly Buffer[]): Promise<ControlItem[]> {
  async function* stream() {
    yield* chunks;
  }
  const items: ControlItem[] = [];
  for await (const item of readControl(stream())) items.push(item);
  return items;
}

/** Joins the pieces of one announcement: where they were cut does not matter. */
function join(items: readonly ControlItem[]): ControlItem[] {
  const joined: ControlItem[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    const goesOn =
      item.kind === "output" &&
      last?.kind === "output" &&
      item.key === last.key &&
      item.stream === last.stream &&
      item.offset === last.offset + last.bytes.length;
    if (goesOn) joined[joined.length - 1] = { ...last, bytes: Buffer.concat([last.bytes, item.bytes]) };
    else joined.push(item);
  }
  return joined;
}

const line = fc.constantFrom(
  "ready",
  "end 0",
  "taken 0000001-1",
  "data",
  "",
  "data k out 1 0",
  "data k out x 5",
);
const output = fc.record({
  key: fc.constantFrom("0000001-1", "0000002-3"),
  stream: fc.constantFrom("out" as const, "err" as const),
  offset: fc.nat(1_000_000),
  bytes: fc
    .oneof(
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
      // Output that looks like the protocol itself.
      fc.constantFrom("end 0\n", "data 0000001-1 out 0 9\n", "\n\n\n").map((text) => Buffer.from(text)),
    )
    .map((bytes) => Buffer.from(bytes)),
});
const item: fc.Arbitrary<ControlItem> = fc.oneof(
  line.map((text) => ({ kind: "line" as const, text })),
  output.map((facts) => ({ kind: "output" as const, ...facts })),
);

function encode(items: readonly ControlItem[]): Buffer {
  return Buffer.concat(
    items.flatMap((each) =>
      each.kind === "line"
        ? [Buffer.from(`${each.text}\n`)]
        : [Buffer.from(`data ${each.key} ${each.stream} ${each.offset} ${each.bytes.length}\n`), each.bytes],
    ),
  );
}

test("lines and output are separated correctly for any cut of the bytes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { maxLength: 12 }),
      fc.array(fc.nat(400), { maxLength: 8 }),
      async (items, at) => {
        const bytes = encode(items);
        const cuts = [
          0,
          ...at.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b),
          bytes.length,
        ];
        const chunks = cuts.slice(1).map((cut, n) => bytes.subarray(cuts[n], cut));
        expect(join(await read(chunks))).toEqual(join(items));
      },
    ),
    { numRuns: 500 },
  );
});

test("a long announcement is passed on as it arrives, each piece with its own offset", async () => {
  const head = Buffer.from("data 0000001-1 err 100 6\nab");
  expect(await read([head, Buffer.from("cd"), Buffer.from("ef"), Buffer.from("end 0\n")])).toEqual([
    { kind: "output", key: "0000001-1", stream: "err", offset: 100, bytes: Buffer.from("ab") },
    { kind: "output", key: "0000001-1", stream: "err", offset: 102, bytes: Buffer.from("cd") },
    { kind: "output", key: "0000001-1", stream: "err", offset: 104, bytes: Buffer.from("ef") },
    { kind: "line", text: "end 0" },
  ]);
});

test("a line that the end of the stream cut off is dropped", async () => {
  expect(await read([Buffer.from("ready\nend ")])).toEqual([{ kind: "line", text: "ready" }]);
});

test("a line without an end is refused before it fills memory", async () => {
  async function* endless() {
    for (;;) yield Buffer.alloc(1 << 16, "x");
  }
  const reading = (async () => {
    for await (const _ of readControl(endless())) throw new Error("an item");
  })();
  await expect(reading).rejects.toThrow("its control channel sent a line of more than 64 kB");
});
