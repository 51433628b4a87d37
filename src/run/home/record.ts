// The client's record on disk: the events that matter, one per line, appended. A record that is cut at any byte loads
// up to its last whole line.

import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../../errors.js";
import type { RunEvent } from "../../model/event.js";
import { isRecorded, recordedPart } from "../../model/recorded.js";
import { describeNewer } from "../../model/version.js";
import { findDistrust } from "./distrust-records.js";
import { separateOlder } from "./older-spools.js";
import { upgradeEvents } from "./record-v1.js";

const FORMAT = 2;

/** Owns the file; call close(). */
export class RunRecord {
  readonly #fd: number;
  #bytes: number;
  #isDirty = false;

  constructor(path: string) {
    this.#bytes = existsSync(path) ? readFileSync(path).lastIndexOf(10) + 1 : 0;
    this.#fd = openSync(path, "a", 0o600);
    ftruncateSync(this.#fd, this.#bytes);
  }

  /** The size of the record, which has every event so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends all of the events or, if it throws, none. */
  append(events: readonly RunEvent[]): void {
    const recorded = events.filter(isRecorded).map(recordedPart);
    if (recorded.length === 0) return;
    const text = recorded.map((event) => `${JSON.stringify({ v: FORMAT, ...event })}\n`).join("");
    const bytes = Buffer.from(text);
    try {
      // A disk that is nearly full writes a part, and reports it only by the number of bytes.
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
    } catch (error) {
      ftruncateSync(this.#fd, this.#bytes);
      throw error;
    }
    this.#bytes += bytes.length;
    this.#isDirty = true;
  }

  /** Call it before any effect that relies on the appended events. */
  sync(): void {
    if (this.#isDirty) fdatasyncSync(this.#fd);
    this.#isDirty = false;
  }

  close(): void {
    try {
      this.sync();
    } finally {
      closeSync(this.#fd);
    }
  }
}

/** `bytes`: read only this many. Throws UserError for the record of a newer sshoal, or of another account. */
export function loadRecord(path: string, bytes?: number): RunEvent[] {
  refuseForeign(dirname(path));
  if (!existsSync(path)) return [];
  const text = readFileSync(path).subarray(0, bytes).toString();
  const lines = text.split("\n").slice(0, -1).map(parseLine);
  const newer = lines.findIndex((line) => line !== null && line.v > FORMAT);
  if (newer !== -1) throw newerError(`${path}:${newer + 1}`, lines);
  const known = lines.flatMap((line) => (line !== null && isRecorded(line) ? [line] : []));
  const upgraded = upgradeEvents(known.filter(({ v }) => v === 1).map(withoutVersion)).values();
  return separateOlder(
    known.map((line) => (line.v === 1 ? (upgraded.next().value as RunEvent) : withoutVersion(line))),
  );
}

function refuseForeign(dir: string): void {
  const distrust = findDistrust(dir);
  if (distrust === null) return;
  throw new UserError(`${dir}: ${distrust}, and records there could make sshoal run commands as you`, {
    hint: "work in a directory of your own, or, if you trust its records, chown it to you and chmod go-w it",
  });
}

type RecordedLine = RunEvent & { readonly v: number };

function withoutVersion({ v: _, ...event }: RecordedLine): RunEvent {
  return event;
}

/** Null for a line that a crash cut: the rest of the record still counts. */
function parseLine(line: string): RecordedLine | null {
  try {
    const parsed = JSON.parse(line) as RecordedLine | null;
    return typeof parsed?.v === "number" ? parsed : null;
  } catch {
    return null;
  }
}

function newerError(where: string, lines: readonly (RecordedLine | null)[]): UserError {
  const start = lines.findLast((line) => line?.kind === "run-started" && line.v > FORMAT);
  const writer = start?.kind === "run-started" ? (start.sshoal ?? null) : null;
  const { message, hint } = describeNewer(writer);
  return new UserError(`${where}: ${message}`, { hint });
}
