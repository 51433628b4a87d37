import { expect, test } from "vitest";
import { LogPrinter, type Printing } from "../../../../src/cli/terminal/log-printer.js";

function printing(options: Partial<Printing> = {}) {
  const written: Buffer[] = [];
  const write = async (bytes: Buffer) => void written.push(bytes);
  const printer = new LogPrinter(write, { names: false, follows: false, tail: null, ...options });
  return { printer, text: () => Buffer.concat(written).toString("latin1") };
}

const bytes = (text: string) => Buffer.from(text, "latin1");

test("stdout is printed unchanged, and stderr has a heading on its own line", async () => {
  const { printer, text } = printing();
  const [out, err] = [printer.sinkFor("a.1", "out", true), printer.sinkFor("a.1", "err", true)];
  await out.write(bytes("\x00\xff no end"));
  await out.settle();
  await err.write(bytes("oops\n"));
  await err.settle();
  expect(text()).toBe("\x00\xff no end\n==> stderr <==\noops\n");
});

test("without stderr, or with one stream alone, there is no heading", async () => {
  const { printer, text } = printing();
  const [out, err] = [printer.sinkFor("a.1", "out", true), printer.sinkFor("a.1", "err", true)];
  await out.write(bytes("fine\n"));
  for (const sink of [out, err]) await sink.settle();
  await printer.sinkFor("a.1", "err", false).write(bytes("only this\n"));
  expect(text()).toBe("fine\nonly this\n");
});

test("with several jobs each has its name, even one that printed nothing", async () => {
  const { printer, text } = printing({ names: true });
  for (const name of ["a.1", "a.2\x1b[2J"]) await printer.sinkFor(name, "out", true).settle();
  await printer.sinkFor("a.2", "err", true).write(bytes("oops\n"));
  expect(text()).toMatch(/^==> a\.1 <==\n==> a\.2.* <==\n==> a\.2 stderr <==\noops\n$/);
  expect(text()).not.toContain("\x1b");
});

test("followed streams are printed in whole lines, and the rest at the end", async () => {
  const { printer, text } = printing({ follows: true });
  const [out, err] = [printer.sinkFor("a.1", "out", true), printer.sinkFor("a.1", "err", true)];
  await out.write(bytes("one\ntw"));
  await err.write(bytes("10%\r20"));
  await out.write(bytes("o\n\r"));
  await err.write(bytes("%\r"));
  await out.write(bytes("\nthree"));
  expect(text()).toBe("one\n10%\rtwo\n\r\n");
  await err.end();
  await out.end();
  expect(text()).toBe("one\n10%\rtwo\n\r\n20%\rthree");
});

test("followed lines of several jobs have the jobs' names", async () => {
  const { printer, text } = printing({ follows: true, names: true });
  const [one, two] = [printer.sinkFor("a.1", "out", false), printer.sinkFor("a.2", "err", false)];
  await one.write(bytes("one\ntwo\nthr"));
  await two.write(bytes("x\n"));
  await one.end();
  expect(text()).toBe("a.1: one\na.1: two\na.2: x\na.1: thr\n");
});

test("a line without an end does not grow without limit", async () => {
  const { printer, text } = printing({ follows: true });
  const sink = printer.sinkFor("a.1", "out", true);
  for (let part = 0; part < 5; part++) await sink.write(Buffer.alloc(40_000, "x"));
  expect(text().length).toBeGreaterThan(100_000);
});

test.each([
  [0, "", "late\n"],
  [1, "no end", "no endlate\n"],
  [2, "three\nno end", "three\nno endlate\n"],
  [9, "one\ntwo\nthree\nno end", "one\ntwo\nthree\nno endlate\n"],
])("--tail %d: the last existing lines, then everything new", async (tail, first, then) => {
  const { printer, text } = printing({ tail, follows: true });
  const sink = printer.sinkFor("a.1", "out", false);
  for (const part of ["one\ntw", "o\nthree\nno", " end"]) await sink.write(bytes(part));
  expect(text()).toBe("");
  await sink.settle();
  expect(text()).toBe(first);
  await sink.write(bytes("late\n"));
  expect(text()).toBe(then);
});
