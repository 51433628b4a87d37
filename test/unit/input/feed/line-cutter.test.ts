import fc from "fast-check";
import { expect, test } from "vitest";
import { LineCutter } from "../../../../src/input/feed/line-cutter.js";

test("the lines are the same however the bytes arrive, and each ends where the next begins", () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom("a", "é", "\n", "🐟") }));
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 5 }), (texts, size) => {
      const bytes = Buffer.from(texts.join(""));
      const cutter = new LineCutter();
      const lines = [];
      for (let at = 0; at < bytes.length; at += size)
        lines.push(...cutter.cut(bytes.subarray(at, at + size)));
      lines.push(...cutter.end());
      const expected = texts.join("").split("\n");
      if (expected.at(-1) === "") expected.pop();
      expect(lines.map(({ text }) => text)).toEqual(expected);
      let start = 0;
      for (const { text, end } of lines) {
        expect(bytes.subarray(start, end).toString().replace(/\n$/, "")).toBe(text);
        start = end;
      }
      expect(start).toBe(bytes.length);
    }),
  );
});
