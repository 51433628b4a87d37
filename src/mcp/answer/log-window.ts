// The part of the output of jobs that an answer has: the last lines of each stream, or lines from a number on.

import type { Row } from "../call/own-command.js";
import { ROW_BYTES } from "./row-window.js";
import { bytesOf, cutText } from "./shrink.js";

/** In characters. Longer lines are cut in the middle. */
export const LONGEST_LINE = 2000;
/** Of all jobs together. Later ones are only counted. */
export const MOST_STREAMS = 40;

interface LogOrder {
  readonly lines: number;
  /** Counted from 1; null: the last lines. */
  readonly fromLine: number | null;
}

interface Stream {
  readonly about: Row;
  /** All lines so far. */
  total: number;
  /** The number of the first kept line. */
  first: number;
  kept: string[];
  bytes: number;
  /** Of a line that came only in part. */
  open: string | null;
  isFull: boolean;
}

export class LogWindow {
  readonly #order: LogOrder;
  readonly #streams = new Map<string, Stream>();
  readonly #leftOut = new Set<string>();

  constructor(order: LogOrder) {
    this.#order = order;
  }

  /** `row`: a `log-line`. */
  offer({ batch, job, name, stream, text, isPart }: Row): void {
    const key = `${batch} ${job} ${stream}`;
    let known = this.#streams.get(key);
    if (known === undefined) {
      if (this.#streams.size >= MOST_STREAMS) {
        this.#leftOut.add(key);
        return;
      }
      const about = { batch, job, name, stream };
      known = {
        about,
        total: 0,
        first: this.#order.fromLine ?? 1,
        kept: [],
        bytes: 0,
        open: null,
        isFull: false,
      };
      this.#streams.set(key, known);
    }
    known.open = cutText(`${known.open ?? ""}${text}`, LONGEST_LINE);
    if (isPart !== true) this.#endLine(known);
  }

  answer(): Record<string, unknown> {
    const streams = [...this.#streams.values()];
    for (const stream of streams) if (stream.open !== null) this.#endLine(stream);
    const share = Math.floor(ROW_BYTES / Math.max(1, streams.length)) - 200;
    return {
      logs: streams.map((stream) => this.#shown(stream, Math.max(share, 200))),
      ...(this.#leftOut.size > 0 && {
        leftOut: `${this.#leftOut.size} more streams of jobs: name fewer jobs`,
      }),
    };
  }

  #endLine(stream: Stream): void {
    const line = stream.open ?? "";
    stream.open = null;
    stream.total += 1;
    const { fromLine, lines } = this.#order;
    if (fromLine !== null && (stream.total < fromLine || stream.isFull)) return;
    const bytes = bytesOf(line);
    const isTooMuch = () => stream.kept.length >= lines || stream.bytes + bytes > ROW_BYTES;
    if (fromLine !== null && isTooMuch()) {
      stream.isFull = true;
      return;
    }
    while (stream.kept.length > 0 && isTooMuch()) drop(stream, "first");
    if (stream.kept.length === 0) stream.first = stream.total;
    stream.kept.push(line);
    stream.bytes += bytes;
  }

  #shown(stream: Stream, most: number): Row {
    const end = this.#order.fromLine === null ? "first" : "last";
    while (stream.kept.length > 1 && stream.bytes > most) drop(stream, end);
    const { about, total, first, kept } = stream;
    const lines =
      kept.length > 0 && stream.bytes > most ? [cutText(kept[0] ?? "", Math.floor(most / 6))] : kept;
    return {
      ...about,
      firstLine: kept.length === 0 ? null : first,
      lines: kept.length,
      totalLines: total,
      nextLine: kept.length === 0 ? Math.max(total + 1, 1) : first + kept.length,
      text: lines.join("\n"),
    };
  }
}

function drop(stream: Stream, end: "first" | "last"): void {
  const line = end === "first" ? stream.kept.shift() : stream.kept.pop();
  stream.bytes -= bytesOf(line ?? "");
  if (end === "first") stream.first += 1;
}
