import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csvCell, formatCsv } from "../../../../src/report/tables/results-csv.js";
import { printable } from "../../../../src/report/text/printable.js";
import { aRow, aTable } from "../../results/a-row.js";

test("one line per row, with the names of the columns first", () => {
  const table = aTable(
    aRow({
      footprint: { memoryMb: 1830, cpuMs: 2500 },
      parameters: { name: 'a, "b"' },
      metrics: { acc: 0.5 },
      command: "echo 'a\nb'",
    }),
    aRow({ job: 2, state: "failed", outcome: { kind: "timed-out" }, durationMs: null }),
  );
  expect(formatCsv(table)).toBe(
    "job,state,failure,name,acc,seconds,cpu_seconds,memory_mb,gpu_memory_mb,machine,slot,attempt,command\n" +
      '1,succeeded,,"a, ""b""",0.5,1.5,2.5,1830,,gpu1,0,1,echo \'a\\nb\'\n' +
      "2,failed,timeout,,,,,,,gpu1,0,1,train 2\n",
  );
});

describe("a spreadsheet evaluates nothing", () => {
  test.each([
    ["=1+1", "'=1+1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["-2+3", "'-2+3"],
    ["+x", "'+x"],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ["-1e-3", "-1e-3"],
    ["+5", "+5"],
    ["a=b", "a=b"],
  ])("%s", (text, cell) => {
    expect(csvCell(text)).toBe(cell);
  });
});

test("any cell is read back unchanged", () => {
  const cell = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom('"', ",", "\n", "\r", " ", "=", "'", "\t", "a", ";") }),
  );
  fc.assert(
    fc.property(fc.array(cell, { minLength: 2, maxLength: 5 }), (cells) => {
      const line = cells.map(csvCell).join(",");
      expect(line).not.toMatch(/[\n\r]/);
      const read = parseCsvLine(line);
      expect(read.map((text) => text.replace(/^'(?=[=+\-@\t])/, ""))).toEqual(
        cells.map((text) => printable(text).replace(/^'(?=[=+\-@\t])/, "")),
      );
    }),
  );
});

/** One line, as in RFC 4180. */
function parseCsvLine(line: string): string[] {
  const cells: string[] = [];
  const cell = /"((?:[^"]|"")*)"(?:,|$)|([^",]*)(?:,|$)/y;
  for (let isMore = true; isMore; ) {
    const found = cell.exec(line);
    if (found === null) throw new Error(`not CSV: ${line}`);
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    isMore = found[0].endsWith(",");
  }
  return cells;
}
