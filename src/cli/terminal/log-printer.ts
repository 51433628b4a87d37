// Prints output of jobs on one stream: under headings, or line by line while jobs are followed.

import type { OutputSink, WriteBytes } from "../../batch/output/output-file.js";
import { printable } from "../../report/text/printable.js";
import { ByteLines, LastLines } from "./byte-lines.js";

export interface Printing {
  /** With several jobs: each heading, or each line, names its job. */
  readonly names: boolean;
  /** Lines of all streams are printed as they are fetched. */
  readonly follows: boolean;
  /** How many lines of each stream come first; null: all. */
  readonly tail: number | null;
}

/** Call end() when no more will arrive. */
export interface LogSink extends OutputSink {
  end(): Promise<void>;
}

const NEWLINE = 10;

export class LogPrinter {
  readonly #write: WriteBytes;
  readonly #printing: Printing;
  #isAtLineStart = true;

  constructor(write: WriteBytes, printing: Printing) {
    this.#write = write;
    this.#printing = printing;
  }

  /** `isOneOfTwo`: the job's other stream is printed, too. */
  sinkFor(name: string, stream: "out" | "err", isOneOfTwo: boolean): LogSink {
    const { names, follows, tail } = this.#printing;
    const isSecond = stream === "err" && isOneOfTwo;
    const heading = [...(names ? [printable(name)] : []), ...(isSecond ? ["stderr"] : [])].join(" ");
    const sink =
      follows && (names || isOneOfTwo)
        ? lineSink(this.#print, names ? `${printable(name)}: ` : "")
        : this.#headed(heading, isSecond);
    return lastOf(sink, tail);
  }

  readonly #print: WriteBytes = async (bytes) => {
    if (bytes.length === 0) return;
    this.#isAtLineStart = bytes.at(-1) === NEWLINE;
    await this.#write(bytes);
  };

  /** `heading` empty: none. `isSecond`: it is left out if nothing follows. */
  #headed(heading: string, isSecond: boolean): LogSink {
    let isHeaded = heading === "";
    const head = async () => {
      if (isHeaded) return;
      isHeaded = true;
      await this.#print(Buffer.from(`${this.#isAtLineStart ? "" : "\n"}==> ${heading} <==\n`));
    };
    return {
      write: async (bytes) => {
        await head();
        await this.#print(bytes);
      },
      settle: async () => {
        if (!isSecond) await head();
      },
      end: async () => {},
    };
  }
}

/** Whole lines, so that lines of other jobs do not come in between. */
function lineSink(print: WriteBytes, prefix: string): LogSink {
  const lines = new ByteLines();
  const start = Buffer.from(prefix);
  const put = (some: readonly Buffer[]) => print(Buffer.concat(some.flatMap((line) => [start, line])));
  return {
    write: (bytes) => put(lines.take(bytes)),
    settle: async () => {},
    end: async () => {
      const rest = lines.end();
      if (rest.length > 0) await put([prefix === "" ? rest : Buffer.concat([rest, Buffer.from("\n")])]);
    },
  };
}

/** The last lines of what there is first; then all that comes. `most` null: all from the beginning. */
export function lastOf(sink: LogSink, most: number | null): LogSink {
  if (most === null) return sink;
  let last: LastLines | null = new LastLines(most);
  return {
    write: async (bytes) => {
      if (last === null) await sink.write(bytes);
      else last.take(bytes);
    },
    settle: async () => {
      const lines = last?.end() ?? [];
      last = null;
      if (lines.length > 0) await sink.write(Buffer.concat(lines));
      await sink.settle();
    },
    end: () => sink.end(),
  };
}
