// Decodes the bytes of an input file to text, or finds the line at which it is no longer text.

import { isUtf8 } from "node:buffer";

export type Decoded =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "not-text"; readonly line: number; readonly reason: string; readonly hint: string };

const NEWLINE = 0x0a;
const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** Removes the byte order mark that some editors write. */
export function decodeText(content: Uint8Array | string): Decoded {
  const bytes =
    typeof content === "string"
      ? Buffer.from(content)
      : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (UTF16_MARKS.some((mark) => bytes.subarray(0, 2).equals(mark))) {
    return { kind: "not-text", line: 1, reason: "is UTF-16, not UTF-8", hint: "save it as UTF-8" };
  }
  const nul = bytes.indexOf(0);
  if (nul !== -1) {
    const line = countNewlines(bytes.subarray(0, nul)) + 1;
    return { kind: "not-text", line, reason: "is binary: it holds a NUL byte", hint: "give a text file" };
  }
  if (!isUtf8(bytes)) {
    return { kind: "not-text", line: firstBadLine(bytes), reason: "is not UTF-8", hint: "save it as UTF-8" };
  }
  return { kind: "text", text: bytes.toString("utf8").replace(/^\uFEFF/, "") };
}

function countNewlines(bytes: Buffer): number {
  return bytes.reduce((count, byte) => (byte === NEWLINE ? count + 1 : count), 0);
}

/** No UTF-8 character contains a newline byte, so each line can be checked alone. */
function firstBadLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
