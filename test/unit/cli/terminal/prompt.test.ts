import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createPrompt, UnseenLine } from "../../../../src/cli/terminal/prompt.js";

describe("the typed line", () => {
  function typed(...chunks: (string | number[])[]): string | null | undefined {
    const line = new UnseenLine();
    for (const chunk of chunks) line.type(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    return line.answer;
  }

  test.each([
    ["a line", ["open sesame\r"], "open sesame"],
    ["typed in pieces", ["o", "pen", "\n"], "open"],
    ["a letter in two pieces", [[0xc3], [0xa9, 0x0d]], "é"],
    ["not done yet", ["open"], undefined],
    ["erased", ["opem\x7fn\r"], "open"],
    ["erased as a whole letter", ["opé\x08en\r"], "open"],
    ["more erased than there was", ["a\x7f\x7f\x7fb\r"], "b"],
    ["the line erased", ["wrong\x15right\r"], "right"],
    ["Ctrl-C", ["open\x03\r"], null],
    ["Ctrl-D at the beginning", ["\x04"], null],
    ["Ctrl-D later", ["a\x04b\r"], "ab"],
    ["nothing", ["\r"], ""],
    ["what follows the line", ["one\rtwo\r"], "one"],
  ])("%s", (_, chunks, answer) => {
    expect(typed(...chunks)).toBe(answer);
  });
});

class Terminal extends PassThrough {
  isTTY = true;
  readonly log: string[] = [];
  setRawMode(isRaw: boolean): this {
    this.log.push(isRaw ? "<raw>" : "<as before>");
    return this;
  }
}

function open(parts: { stdinIsTTY?: boolean; stderrIsTTY?: boolean } = {}) {
  const stdin = new Terminal();
  stdin.isTTY = parts.stdinIsTTY ?? true;
  const { log } = stdin;
  const ask = createPrompt({
    stdin,
    stderr: { isTTY: parts.stderrIsTTY ?? true, write: (text) => log.push(text) },
    view: { suspend: () => log.push("<suspend>"), resume: () => log.push("<resume>") },
  });
  return { ask, stdin, log };
}

test("in a pipe there is no person to ask", () => {
  expect(open({ stdinIsTTY: false }).ask).toBeNull();
  expect(open({ stderrIsTTY: false }).ask).toBeNull();
});

test("questions are asked one at a time; the view is hidden, and the terminal is restored", async () => {
  const { ask, stdin, log } = open();
  const [first, second] = [ask?.passphrase("one? "), ask?.passphrase("two? ")];
  stdin.write("1\r");
  expect(await first).toBe("1");
  expect(log).toEqual(["<suspend>", "<raw>", "one? ", "<as before>", "\n", "<resume>"]);
  stdin.write("\x03");
  expect(await second).toBeNull();
  expect(log.slice(6)).toEqual(["<suspend>", "<raw>", "two? ", "<as before>", "\n", "<resume>"]);
  expect(stdin.listenerCount("data")).toBe(0);
});

test("a terminal that closes gives no answer", async () => {
  const { ask, stdin } = open();
  const answer = ask?.passphrase("one? ");
  stdin.end();
  expect(await answer).toBeNull();
});

test("after a terminal error the view is shown again, and the next question is asked", async () => {
  const { ask, stdin, log } = open();
  const fail = () => {
    throw new Error("EIO");
  };
  stdin.setRawMode = fail;
  await expect(ask?.passphrase("one? ")).rejects.toThrow("EIO");
  expect(log).toEqual(["<suspend>", "\n", "<resume>"]);
  stdin.setRawMode = () => stdin;
  const answer = ask?.passphrase("two? ");
  stdin.write("2\r");
  expect(await answer).toBe("2");
});

test.each([
  ["y\r", true],
  ["Yes\r", true],
  ["\r", false],
  ["n\r", false],
  ["\x03", false],
])("a yes-or-no question, answered by %j: %s; the typed text is visible", async (keys, expected) => {
  const { ask, stdin, log } = open();
  const answer = ask?.confirm("send? ");
  stdin.write(keys);
  expect(await answer).toBe(expected);
  expect(log).toEqual(["<suspend>", "<raw>", "send? ", keys.slice(0, -1), "<as before>", "\n", "<resume>"]);
});
