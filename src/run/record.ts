// What the client knows, on disk: the events that matter, one a line, appended. A record cut at any byte loads up
// to its last whole line.

import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import type { RunEvent } from "../model/event.js";
import { upgradeEvent } from "./record-v1.js";

const VERSION = 2;
/** The rest is for the eye, or can be asked for again. */
const RECORDED: ReadonlySet<RunEvent["kind"]> = new Set([
  "run-started",
  "jobs-added",
  "job-reopened",
  "job-replaced",
  "jobs-complete",
  "machine-ready",
  "jobs-assigned",
  "jobs-handed-over",
  "jobs-taken-back",
  "jobs-reassigned",
  "jobs-retried",
  "machine-refused",
  "job-started",
  "job-ended",
  "output-restarted",
  "jobs-arrived",
  "job-collected",
  "rest-collected",
  "job-stuck",
  "machine-done",
  "interrupted",
  "halted",
  "run-ended",
]);

/** Owns the file; close() it. */
export class RunRecord {
  readonly #fd: number;
  #bytes: number;
  #isDirty = false;

  constructor(path: string) {
    this.#bytes = existsSync(path) ? readFileSync(path).lastIndexOf(10) + 1 : 0;
    this.#fd = openSync(path, "a", 0o600);
    ftruncateSync(this.#fd, this.#bytes);
  }

  /** All of them or, when this throws, none. */
  append(events: readonly RunEvent[]): void {
    const recorded = events.filter(({ kind }) => RECORDED.has(kind));
    if (recorded.length === 0) return;
    const text = recorded.map((event) => `${JSON.stringify({ v: VERSION, ...event })}\n`).join("");
    const bytes = Buffer.from(text);
    try {
      // A disk that is about to be full takes a part, and says so only in the number of bytes.
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
    } catch (error) {
      ftruncateSync(this.#fd, this.#bytes);
      throw error;
    }
    this.#bytes += bytes.length;
    this.#isDirty = true;
  }

  /** Before anything is done that relies on what was appended. */
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

export function loadRecord(path: string): RunEvent[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.flatMap((line) => parseLine(line) ?? []);
}

/** Null for what a crash tore or a later version wrote: the rest of the record still counts. */
function parseLine(line: string): RunEvent | null {
  try {
    const { v, ...event } = JSON.parse(line) as RunEvent & { v: number };
    if (!RECORDED.has(event.kind)) return null;
    if (v === 1) return upgradeEvent(event as RunEvent);
    return v === VERSION ? (event as RunEvent) : null;
  } catch {
    return null;
  }
}
