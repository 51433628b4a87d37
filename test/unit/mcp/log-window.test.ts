// The part of the output of jobs that an answer has.

import { describe, expect, test } from "vitest";
import { LONGEST_LINE, LogWindow, MOST_STREAMS } from "../../../src/mcp/answer/log-window.js";
import { ROW_BYTES } from "../../../src/mcp/answer/row-window.js";
import { bytesOf } from "../../../src/mcp/answer/shrink.js";

interface Shown {
  readonly logs: {
    name: string;
    text: string;
    firstLine: number;
    lines: number;
    totalLines: number;
    nextLine: number;
  }[];
  readonly leftOut?: string;
}

function shown(
  order: { lines: number; fromLine: number | null },
  lines: readonly string[],
  name = "a.sh.1",
): Shown {
  const window = new LogWindow(order);
  for (const text of lines) window.offer({ batch: "a", job: 1, name, stream: "out", text });
  return window.answer() as unknown as Shown;
}

const LINES = Array.from({ length: 100 }, (_, n) => `line ${n + 1}`);

test("without a number, the last lines come, and the number of the line after them", () => {
  const { logs } = shown({ lines: 2, fromLine: null }, LINES);
  expect(logs).toMatchObject([
    { firstLine: 99, lines: 2, totalLines: 100, nextLine: 101, text: "line 99\nline 100" },
  ]);
});

test("from a number on, the first lines come, and the next number continues without a gap", () => {
  const seen: string[] = [];
  for (let fromLine = 1; fromLine <= 100; ) {
    const [log] = shown({ lines: 7, fromLine }, LINES).logs;
    seen.push(...(log?.text ?? "").split("\n"));
    fromLine = log?.nextLine ?? 0;
  }
  expect(seen).toEqual(LINES);
});

test("beyond the end nothing comes, and the next number stays", () => {
  const { logs } = shown({ lines: 7, fromLine: 101 }, LINES);
  expect(logs).toMatchObject([{ lines: 0, text: "", nextLine: 101, totalLines: 100 }]);
});

describe("bounds", () => {
  test("a line that comes in parts counts once, and is cut in the middle", () => {
    const window = new LogWindow({ lines: 5, fromLine: null });
    const about = { batch: "a", job: 1, name: "a.sh.1", stream: "out" };
    for (let n = 0; n < 50; n += 1) window.offer({ ...about, text: "=".repeat(65_536), isPart: true });
    window.offer({ ...about, text: "100%" });
    window.offer({ ...about, text: "done" });
    const { logs } = window.answer() as unknown as Shown;
    expect(logs).toMatchObject([{ totalLines: 2, text: expect.stringMatching(/^=+ … .*=100%\ndone$/) }]);
    expect(logs[0]?.text.length).toBeLessThan(LONGEST_LINE + 100);
  });

  test("long lines of many streams together stay below the bound, and none is skipped in silence", () => {
    const window = new LogWindow({ lines: 2000, fromLine: null });
    for (let job = 1; job <= MOST_STREAMS + 3; job += 1)
      for (let n = 0; n < 30; n += 1)
        window.offer({
          batch: "a",
          job,
          name: `a.sh.${job}`,
          stream: "out",
          text: `${n} ${"ä".repeat(900)}`,
        });
    const answer = window.answer() as unknown as Shown;
    expect(bytesOf(answer)).toBeLessThan(ROW_BYTES + 6000);
    expect(answer.logs).toHaveLength(MOST_STREAMS);
    expect(answer.leftOut).toContain("3 more");
    for (const log of answer.logs) expect(log).toMatchObject({ totalLines: 30, nextLine: 31 });
  });

  test("from a number on, lines that do not fit come with the next number", () => {
    const long = Array.from({ length: 100 }, (_, n) => `${n} ${"x".repeat(1000)}`);
    const seen: string[] = [];
    for (let fromLine = 1; fromLine <= 100; ) {
      const [log] = shown({ lines: 2000, fromLine }, long).logs;
      expect(bytesOf(log)).toBeLessThan(ROW_BYTES);
      seen.push(...(log?.text ?? "").split("\n"));
      fromLine = log?.nextLine ?? 0;
    }
    expect(seen).toEqual(long);
  });
});
