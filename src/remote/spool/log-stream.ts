// Takes apart what one `tail` prints of several growing logs: each piece comes behind a header that names its log.

import { LONGEST_LINE_BYTES } from "../engine/line-limit.js";
import type { MachineClock } from "./machine-clock.js";
import { parseSpoolEvent, type SpoolEvent } from "./spool-event.js";

const NEWLINE = 10;
const HEADER_START = "==> ";
const HEADER = /^==> (\S+) <==$/;
/** Of a line that is too long, so much of its end is kept: a slot may have appended an event to it. */
const KEPT_BYTES = 256;
const EMPTY: Buffer = Buffer.alloc(0);

/** Of a log that has told something. */
export interface KnownLog {
  /** How many whole lines. */
  readonly lines: number;
  /** How the last of them ends: by this the log is seen to still have them. Empty: not known. */
  readonly end: string;
}

/** By the names of logs. */
export type KnownLogs = Map<string, KnownLog>;

/** What is remembered of a line's end. */
const REMEMBERED = /[ -~]{0,80}$/;

export class LogStream {
  readonly #known: KnownLogs;
  readonly #onEvent: (event: SpoolEvent) => void;
  readonly #clock: MachineClock | null;
  /** Of each log, what came of its last line. */
  readonly #rests = new Map<string, Buffer>();
  /** Logs of which a line that is not over yet is too long. */
  readonly #overlong = new Set<string>();
  readonly #names = new Set<string>();
  #name = "";
  #buffer = EMPTY;
  /** The line that ended where the buffer begins. */
  #last: Buffer | null = null;

  /** Counts lines in `known` as they come. */
  constructor(known: KnownLogs, onEvent: (event: SpoolEvent) => void, clock: MachineClock | null = null) {
    this.#known = known;
    this.#onEvent = onEvent;
    this.#clock = clock;
  }

  /** How many logs have come so far, at least their headers. */
  get logs(): number {
    return this.#names.size;
  }

  take(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    while (this.#takeHeader() || this.#takeLine());
    if (this.#buffer.length > LONGEST_LINE_BYTES) this.#shorten();
  }

  #takeHeader(): boolean {
    const end = startsHeader(this.#buffer) ? this.#buffer.indexOf(NEWLINE) : -1;
    if (end < 0) return false;
    const name = HEADER.exec(this.#buffer.toString("utf8", 0, end))?.[1];
    if (name === undefined) return false;
    // The newline of the line before was the header's own.
    if (this.#last !== null) this.#undo(this.#last);
    this.#name = name;
    this.#names.add(name);
    this.#buffer = this.#buffer.subarray(end + 1);
    return true;
  }

  #takeLine(): boolean {
    const end = this.#buffer.indexOf(NEWLINE);
    if (end < 0) return false;
    const after = this.#buffer.subarray(end + 1);
    const isBeforeHeader = after.length > 0 && startsHeader(after);
    // Of the header only a part has come.
    if (isBeforeHeader && after.indexOf(NEWLINE) < 0) return false;
    const line = this.#joined(this.#buffer.subarray(0, end));
    this.#buffer = after;
    this.#last = line;
    if (isBeforeHeader) this.#keep(line);
    else this.#end(line);
    return true;
  }

  #joined(piece: Buffer): Buffer {
    const rest = this.#rests.get(this.#name);
    if (rest === undefined) return piece;
    this.#rests.delete(this.#name);
    return Buffer.concat([rest, piece]);
  }

  #end(line: Buffer): void {
    const text = line.toString("utf8");
    const event = parseSpoolEvent(this.#overlong.delete(this.#name) ? lastEventIn(text) : text, this.#clock);
    this.#count(1, REMEMBERED.exec(text)?.[0] ?? "");
    if (event !== null) this.#onEvent(event);
  }

  /** The line goes on when its log comes next. */
  #keep(line: Buffer): void {
    this.#last = null;
    if (line.length > 0) this.#rests.set(this.#name, Buffer.from(line));
  }

  /** What was taken for a line was the beginning of one. An event that it seemed to be comes again when it is whole. */
  #undo(line: Buffer): void {
    this.#count(-1, "");
    this.#keep(line);
  }

  #count(more: number, end: string): void {
    this.#known.set(this.#name, { lines: (this.#known.get(this.#name)?.lines ?? 0) + more, end });
  }

  #shorten(): void {
    if (!this.#overlong.has(this.#name)) this.#onEvent({ kind: "overlong" });
    this.#overlong.add(this.#name);
    this.#buffer = this.#buffer.subarray(-KEPT_BYTES);
  }
}

/** True also for the first bytes of one: no line of ours begins like it. */
function startsHeader(bytes: Buffer): boolean {
  const start = bytes.toString("latin1", 0, HEADER_START.length);
  return HEADER_START.startsWith(start);
}

function lastEventIn(line: string): string {
  return line.slice(Math.max(0, line.lastIndexOf("started "), line.lastIndexOf("ended ")));
}
