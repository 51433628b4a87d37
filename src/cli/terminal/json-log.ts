// Output of jobs for programs: one object per line, in the format that docs/json-events.md promises to keep.

import { StringDecoder } from "node:string_decoder";
import type { WriteBytes } from "../../batch/output/output-file.js";
import type { JobId } from "../../model/job.js";
import { jsonLine } from "../../report/lines/json-lines.js";
import type { LogSink } from "./log-printer.js";

export interface LogLineAbout {
  readonly batch: string;
  readonly job: JobId;
  readonly name: string;
  readonly stream: "out" | "err";
}

/** In characters. A longer line comes in parts: a job may print without ever ending a line. */
const LONGEST_PART = 64 << 10;

export function jsonSink(write: WriteBytes, about: LogLineAbout): LogSink {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const put = async (text: string) => {
    const { whole, open } = cutLines(rest + text);
    rest = open;
    if (whole.length === 0) return;
    const lines = whole.map((line) => `${jsonLine({ kind: "log-line", ...about, ...line })}\n`);
    await write(Buffer.from(lines.join("")));
  };
  return {
    write: (bytes) => put(decoder.write(bytes)),
    settle: async () => {},
    end: async () => {
      const last = rest + decoder.end();
      rest = "";
      if (last !== "") await put(`${last}\n`);
    },
  };
}

interface LogLine {
  readonly text: string;
  /** The line goes on in the next object of the same stream. */
  readonly isPart?: true;
}

/** `open`: what has no end yet. */
function cutLines(text: string): { readonly whole: LogLine[]; readonly open: string } {
  const lines = text.split("\n");
  const { parts, last } = cutLine(lines.pop() ?? "");
  return { whole: [...lines.flatMap(wholeLine), ...parts], open: last };
}

function wholeLine(line: string): LogLine[] {
  const { parts, last } = cutLine(line);
  return [...parts, { text: last }];
}

function cutLine(line: string): { readonly parts: LogLine[]; readonly last: string } {
  const parts: LogLine[] = [];
  let start = 0;
  while (line.length - start > LONGEST_PART) {
    const end = start + LONGEST_PART - (isFirstHalf(line, start + LONGEST_PART - 1) ? 1 : 0);
    parts.push({ text: line.slice(start, end), isPart: true });
    start = end;
  }
  return { parts, last: line.slice(start) };
}

/** Of a letter that takes two units: cut in between, both would be lost. */
function isFirstHalf(line: string, at: number): boolean {
  const unit = line.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}
