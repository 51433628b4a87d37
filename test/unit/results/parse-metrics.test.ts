import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Left, parseMetrics } from "../../../src/results/parse-metrics.js";

function metrics(left: Partial<Left>): Record<string, number | string> {
  return Object.fromEntries(parseMetrics({ tail: "", isCut: false, file: null, ...left }));
}

describe("a `sshoal:` line", () => {
  test.each([
    ["sshoal: acc=0.91 loss=0.2\n", { acc: 0.91, loss: 0.2 }],
    ["sshoal: acc=.5, loss=1e-3; n=7", { acc: 0.5, loss: 0.001, n: 7 }],
    ["x\nsshoal: acc=1 loss=2\ny\n  sshoal: acc=3\nz\n", { acc: 3, loss: 2 }],
    ["\u001b[32msshoal: acc=0.91\u001b[0m\r\n", { acc: 0.91 }],
    ["10%\r50%\rsshoal: acc=1\r\n", { acc: 1 }],
    ["sshoal: loss=nan top=inf model=resnet", { loss: "nan", top: "inf", model: "resnet" }],
    ["sshoal: a==b =1 c= d", { a: "=b" }],
    ["sshoal: n=0x10 m=1_000 p=91%", { n: "0x10", m: "1_000", p: "91%" }],
    ["the setup said sshoal: acc=1", {}],
    ["sshoal: the setup of gpu1 failed", {}],
    ["sshoal:acc=1", { acc: 1 }],
    ["", {}],
  ])("%j", (tail, expected) => {
    expect(metrics({ tail })).toEqual(expected);
  });

  test("an incomplete line at the start of a tail is ignored", () => {
    expect(metrics({ tail: "sshoal: acc=1\nsshoal: loss=2\n", isCut: true })).toEqual({ loss: 2 });
  });
});

describe("JSON on the last line", () => {
  test.each([
    ['epoch 3\n{"acc": 0.91, "loss": 0.2}\n\n  \n', { acc: 0.91, loss: 0.2 }],
    ['{"acc": 0.91}\ndone\n', {}],
    [
      '{"acc": NaN, "up": Infinity, "down": -Infinity, "says": "NaN, \\" Infinity"}',
      {
        acc: "NaN",
        up: "Infinity",
        down: "-Infinity",
        says: 'NaN, " Infinity',
      },
    ],
    [
      '{"huge": 1e999, "ok": true, "no": null, "list": [1], "deep": {"acc": 1, "er": {"x": 1}}}',
      {
        huge: "Infinity",
        ok: "true",
        "deep.acc": 1,
      },
    ],
    ["[1, 2]", {}],
    ['{"acc": 0.91', {}],
    ["{acc: 1}", {}],
    ["{}", {}],
  ])("%j", (tail, expected) => {
    expect(metrics({ tail })).toEqual(expected);
  });
});

test("for one name, the `sshoal:` line takes precedence over JSON on the last line, and that over metrics.json", () => {
  const file = '{"a": 1, "b": 1, "c": 1}\n';
  const tail = 'sshoal: a=3\n{"a": 2, "b": 2}\n';
  expect(metrics({ file, tail })).toEqual({ a: 3, b: 2, c: 1 });
  expect(metrics({ file: "{ broken", tail })).toEqual({ a: 3, b: 2 });
  expect(metrics({ file: '"text"', tail: "" })).toEqual({});
});

describe("text of a job is made safe", () => {
  test("names and texts have no control characters, and a limited length", () => {
    const file = JSON.stringify({
      "a\u001b[31m\n\u202eb": 1,
      "\u0007 ": 2,
      ["n".repeat(1000)]: "x\ty".repeat(1000),
    });
    expect(metrics({ file })).toEqual({
      "a[31m b": 1,
      ["n".repeat(60)]: "x y".repeat(1000).slice(0, 200),
    });
  });

  test("names that are special in JavaScript are just names", () => {
    const file = '{"__proto__": 1, "constructor": 2, "toString": {"x": 3}}';
    expect([...parseMetrics({ tail: "", isCut: false, file })]).toEqual([
      ["__proto__", 1],
      ["constructor", 2],
      ["toString.x", 3],
    ]);
  });

  test("at most a hundred names are kept", () => {
    const many = Array.from({ length: 500 }, (_, index) => `m${index}=${index}`).join(" ");
    expect(Object.keys(metrics({ tail: `sshoal: ${many} m3=x` }))).toHaveLength(100);
    expect(metrics({ tail: `sshoal: ${many} m3=x` }).m3).toBe("x");
  });

  test("text that is made to be slow is parsed quickly", () => {
    const size = 1 << 18;
    for (const tail of [
      '{"'.repeat(size / 2),
      `{${'"\\'.repeat(size / 2)}}`,
      `sshoal: ${"a".repeat(size)}`,
    ]) {
      expect(metrics({ tail, file: tail })).toEqual({});
    }
  });

  test("for any text, numbers are finite and texts are short", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.json());
    fc.assert(
      fc.property(text, text, fc.boolean(), (tail, file, isCut) => {
        for (const [name, value] of parseMetrics({ tail: `sshoal: ${tail}\n${tail}`, isCut, file })) {
          expect(name).toMatch(/^[^\p{Cc}\p{Cs}]{1,60}$/u);
          if (typeof value === "number") expect(Number.isFinite(value)).toBe(true);
          else expect(value.length).toBeLessThanOrEqual(400);
        }
      }),
    );
  });
});
