// What a machine says about the output of jobs, beside the bytes that it sends. Pure.

import { wordsAfter } from "../engine/words-after.js";

/** A stream of an attempt. */
export interface StreamName {
  readonly key: string;
  readonly stream: "out" | "err";
}

export interface OutputLook {
  /** Streams that are shorter than their positions. */
  readonly cut: readonly StreamName[];
  /** Streams that have more than is sent while the job runs (--max-output). */
  readonly beyond: readonly Beyond[];
}

export interface Beyond extends StreamName {
  readonly size: number;
  readonly lastLine: string;
}

export function parseOutputLook(lines: readonly string[]): OutputLook {
  return {
    cut: wordsAfter("cut", lines).map(toStream),
    beyond: wordsAfter("beyond", lines).map((line) => {
      const [, size = "", lastLine = ""] = /^\S+ \S+ (\d+) (.*)$/.exec(line) ?? [];
      return { ...toStream(line), size: Number(size), lastLine };
    }),
  };
}

function toStream(line: string): StreamName {
  const [key = "", stream = ""] = line.split(" ");
  return { key, stream: stream === "out" ? "out" : "err" };
}
