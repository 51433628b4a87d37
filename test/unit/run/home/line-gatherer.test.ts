import fc from "fast-check";
import { expect, test } from "vitest";
import { LineGatherer } from "../../../../src/run/home/line-gatherer.js";

const KB = 1024;

test("property: for any cut of the bytes nothing is lost or repeated, and only the last line may lack a newline", () => {
  const text = fc.array(fc.constantFrom("\n", "a", "ä", "漢", "\r", "word "), { maxLength: 60 });
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (letters, steps) => {
      const bytes = Buffer.from(letters.join(""));
      const lines = new LineGatherer();
      const told: string[] = [];
      for (let at = 0, n = 0; at < bytes.length; n++) {
        const step = steps[n % steps.length] ?? 1;
        told.push(lines.take(bytes.subarray(at, at + step)));
        at += step;
      }
      for (const each of told) expect(each === "" || each.endsWith("\n")).toBe(true);
      expect(told.join("") + lines.end()).toBe(letters.join(""));
      expect(lines.end()).toBe("");
    }),
  );
});

test("a line without an end is passed on in parts, without splitting a letter", () => {
  const lines = new LineGatherer();
  const bytes = Buffer.from("漢".repeat(100 * KB));
  let told = "";
  for (let at = 0; at < bytes.length; at += 1000) told += lines.take(bytes.subarray(at, at + 1000));
  const parts = (told + lines.end()).split("\n");
  expect(parts.length).toBeGreaterThan(3);
  expect(parts.join("")).toBe("漢".repeat(100 * KB));
});

test("a progress bar that is drawn for ever is one line: its last state", () => {
  const lines = new LineGatherer();
  let told = "";
  for (let step = 0; step < 20_000; step++) told += lines.take(Buffer.from(`step ${step} of 20000\r`));
  expect(told).toBe("");
  const line = lines.take(Buffer.from("\n"));
  expect(line.length).toBeLessThan(70 * KB);
  expect(line.split("\r").at(-2)).toBe("step 19999 of 20000");
});

test("it continues a line that was begun before", () => {
  expect(new LineGatherer(Buffer.from("hel")).take(Buffer.from("lo\n"))).toBe("hello\n");
});
