import { describe, expect, test } from "vitest";
import { parseSentReport } from "../../../../src/remote/results/sent-report.js";

const report = (said: string, status: number, ...unread: string[]) =>
  `${said}\0sent ${status}\0${unread.map((name) => `${name}\0`).join("")}end\0`;

test.each([
  ["nothing", ""],
  ["words alone", "tar: gone\n"],
  ["no end", "\0sent 0\0"],
  ["an end without a beginning", "\0end\0"],
])("%s is not a report", (_, text) => {
  expect(parseSentReport(text)).toBeNull();
});

test("a whole archive, after any output of start-up files", () => {
  expect(parseSentReport(report("Welcome", 0))).toEqual({ unread: [], partial: [] });
});

test("an archive without unreadable files, with any name that a file can have", () => {
  const names = ["k/work/a\nsent 0\nend", "k/work/closed/", "k/work/: Cannot open: x"];
  expect(parseSentReport(report("", 2, ...names))).toEqual({ unread: names, partial: [] });
});

test("a failure of tar that no name explains", () => {
  expect(parseSentReport(report("tar: out of memory\n", 2))).toBeNull();
  expect(parseSentReport(report("", 1))).toBeNull();
});

test.each(["tar: k/work/log: file changed as we read it", "tar: k/work/log: File removed before we read it"])(
  "files that change in the meantime are accepted: %s",
  (line) => {
    expect(parseSentReport(report(`${line}\n`, 1))).toEqual({ unread: [], partial: [] });
  },
);

describe("names in tar's own words", () => {
  test.each([
    ["tar: k/work/a: b: Cannot open: Permission denied", "k/work/a: b"],
    ["tar: k/work/a: Cannot open: b: Cannot open: Permission denied", "k/work/a: Cannot open: b"],
    ["tar: can't open 'k/work/it's': Permission denied", "k/work/it's"],
    ["tar: k/work/d: File name too long", "k/work/d"],
    ["tar: k/work/d/new\\nline/x: Cannot stat: Stale file handle", "k/work/d/"],
  ])("%s", (line, name) => {
    expect(parseSentReport(report(`${line}\n`, 2))).toEqual({ unread: [name], partial: [] });
  });

  test("files that were filled with zeros", () => {
    const said = [
      "tar: k/work/a: Read error at byte 0, while reading 5 bytes: Input/output error",
      "tar: k/work/b: File shrank by 12 bytes; padding with zeros",
      "tar: Exiting with failure status due to previous errors",
    ].join("\n");
    expect(parseSentReport(report(said, 2))).toEqual({ unread: [], partial: ["k/work/a", "k/work/b"] });
  });
});
