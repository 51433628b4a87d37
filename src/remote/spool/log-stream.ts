// Separates the output of one `tail` on several growing logs: each piece follows a header that names its log.

import { LONGEST_LINE_BYTES } from "../engine/line-limit.js";
import type { MachineClock } from "./machine-clock.js";
import { parseSpoolEvent, type SpoolEvent } from "./spool-event.js";

const NEWLINE = 10;
const HEADER_START = "==> ";
const HEADER = /^==> (\S+) <==$/;
/** How much of the end of a line that is too long is kept, because a slot may have appended an event to it. */
const KEPT_BYTES = 256;
const EMPTY: Buffer = Buffer.alloc(0);

/** The known part of a log. */
export interface KnownLog {
  /** The number of whole lines. */
  readonly lines: number;
  /** The end of the last line, to check that the log still has these lines. Empty: not known. */
  readonly end: string;
}

/** By the names of logs. */
export type KnownLogs = Map<string, KnownLog>;

/** The part of a line's end that is stored. */
const REMEMBERED = /[ -~]{0,80}$/;

export class LogStream {
  readonly #known: KnownLogs;
  readonly #onEvent: (event: SpoolEvent) => void;
  readonly #clock: MachineClock | null;
  /** The incomplete last line of each log. */
  readonly #rests = new Map<string, Buffer>();
  /** Logs whose incomplete line is already too long. */
  readonly #overlong = new Set<string>();
  readonly #names = new Set<string>();
  #name = "";
  #buffer = EMPTY;
  /** The line that ended where the buffer begins. */
  #last: Buffer | null = null;

  /** Counts lines in `known` as they arrive. */
  constructor(known: KnownLogs, onEvent: (event: SpoolEvent) => void, clock: MachineClock | null = null) {
    this.#known = known;
    this.#onEvent = onEvent;
    this.#clock = clock;
  }

  /** How many logs have arrived so far, at least their headers. */
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
    // The newline after the previous line belonged to the header.
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
    // Only a part of the header has arrived.
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

  /** The line continues when its log comes next. */
  #keep(line: Buffer): void {
    this.#last = null;
    if (line.length > 0) this.#rests.set(this.#name, Buffer.from(line));
  }

  /** The supposed line was only the beginning of one. Its event is passed on again when the line is complete. */
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

/** Also true for the first bytes of a header: no line of an event log begins like one. */
function startsHeader(bytes: Buffer): boolean {
  const start = bytes.toString("latin1", 0, HEADER_START.length);
  return HEADER_START.startsWith(start);
}

function lastEventIn(line: string): string {
  return line.slice(Math.max(0, line.lastIndexOf("started "), line.lastIndexOf("ended ")));
}
