// Answers of tools stay below their bounds, whatever a command prints.

import fc from "fast-check";
import { expect, test } from "vitest";
import { UserError } from "../../../src/errors.js";
import { ANSWER_BYTES, answerText, errorText } from "../../../src/mcp/answer/answer-text.js";
import { ROW_BYTES, RowWindow } from "../../../src/mcp/answer/row-window.js";
import { bytesOf, cutText, shrink } from "../../../src/mcp/answer/shrink.js";

test("a value that is small enough stays as it is", () => {
  const value = { a: ["x".repeat(90)], b: null };
  expect(shrink(value, 1000)).toBe(value);
});

test("long texts and lists are cut, and say so", () => {
  const cut = shrink({ name: "job", text: `${"a".repeat(5000)}end`, list: Array(500).fill(1) }, 2000);
  expect(bytesOf(cut)).toBeLessThanOrEqual(2000);
  expect(cut.name).toBe("job");
  expect(cut.text).toMatch(/^a+ … \d+ characters … a*end$/);
  expect(cut.list.at(-1)).toMatch(/^… \d+ more$/);
});

test("a text is cut in the middle to the length that was asked for, plus how much is missing", () => {
  expect(cutText("abcdefghi", 9)).toBe("abcdefghi");
  expect(cutText("abcdefghij", 6)).toBe("ab … 4 characters … ghij");
});

test("no value makes an answer that is too long", () => {
  fc.assert(
    fc.property(
      fc.object({ maxDepth: 4, maxKeys: 30 }),
      fc.integer({ min: 200, max: 3000 }),
      (value, most) => {
        expect(bytesOf(shrink(value, most))).toBeLessThanOrEqual(most);
      },
    ),
  );
  const wide = Object.fromEntries(Array.from({ length: 9000 }, (_, n) => [`key ${n}`, "\u0001".repeat(9)]));
  expect(Buffer.byteLength(answerText(wide))).toBeLessThanOrEqual(ANSWER_BYTES);
  const long = new UserError("\u0001ä".repeat(90_000), { hint: "x".repeat(90_000) });
  expect(Buffer.byteLength(errorText(long))).toBeLessThanOrEqual(ANSWER_BYTES);
});

test("rows come from an offset on, up to a limit, and the next offset continues without a gap", () => {
  const rows = Array.from({ length: 25 }, (_, n) => ({ v: 2, kind: "job-status", job: n }));
  const seen: unknown[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const window: RowWindow = new RowWindow({ offset, limit: 10, fields: ["job"] });
    for (const row of rows) window.offer(row);
    expect(window.total).toBe(25);
    seen.push(...window.rows.map(({ job }) => job));
    offset = window.nextOffset;
  }
  expect(seen).toEqual(rows.map(({ job }) => job));
});

test("rows that are too long together come in more parts, and one that is too long alone is cut", () => {
  const rows = Array.from({ length: 40 }, (_, n) => ({ job: n, text: "x".repeat(n === 7 ? 900_000 : 3000) }));
  const seen: unknown[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const window: RowWindow = new RowWindow({ offset });
    for (const row of rows) window.offer(row);
    expect(bytesOf(window.rows)).toBeLessThanOrEqual(ROW_BYTES + 2);
    expect(window.rows.length).toBeGreaterThan(0);
    seen.push(...window.rows.map(({ job }) => job));
    offset = window.nextOffset;
  }
  expect(seen).toEqual(rows.map(({ job }) => job));
});
