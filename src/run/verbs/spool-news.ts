// Tells what a machine's event logs say, in order. The end of a job that failed comes with the last lines of its stderr, which the
// machine is asked for first.

import { parseAttemptKey } from "../../model/attempt-key.js";
import { succeeded } from "../../model/job.js";
import type { SpoolEvent } from "../../remote/spool/spool-event.js";
import { type Listener, tellSpoolEvent } from "./telling.js";

type Stream = "out" | "err";
type Ends = ReadonlyMap<string, string>;

const NONE: Ends = new Map();
/** How long news waits for last lines: a machine may be busy with the output of other jobs. */
const WITHIN_MS = 5000;
/** How many events one question is for. */
const MOST_AT_ONCE = 200;

/** One for each machine. */
export class SpoolNews {
  readonly #listener: Listener;
  readonly #streamOf: (key: string) => Stream;
  /** In order: what comes after a failure waits with it. */
  #waiting: SpoolEvent[] = [];

  /** `streamOf`: where the stderr of an attempt is. */
  constructor(listener: Listener, streamOf: (key: string) => Stream) {
    this.#listener = listener;
    this.#streamOf = streamOf;
  }

  readonly take = (event: SpoolEvent): void => {
    if (this.#waiting.length === 0 && this.#failedKey(event) === null)
      return tellSpoolEvent(this.#listener, event);
    this.#waiting.push(event);
    if (this.#waiting.length === 1) void this.#tellWaiting();
  };

  async #tellWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      // All that comes in the same piece is asked for at once.
      await Promise.resolve();
      const events = this.#waiting.slice(0, MOST_AT_ONCE);
      const ends = await this.#endsOf(events.flatMap((event) => this.#failedKey(event) ?? []));
      for (const event of events) tellSpoolEvent(this.#listener, event, ends);
      this.#waiting = this.#waiting.slice(events.length);
    }
  }

  /** Null: nothing of its output is wanted. Jobs that were stopped may be many, and have no fault to explain. */
  #failedKey(event: SpoolEvent): string | null {
    if (event.kind !== "ended" || succeeded(event.outcome) || event.outcome.kind === "stopped") return null;
    const { known, link } = this.#listener;
    const { job, attempt } = parseAttemptKey(event.key);
    return known.isUnderWay(link.spec.name, job, attempt) ? event.key : null;
  }

  /** What the machine does not send in time is left out: news matters more. */
  async #endsOf(keys: readonly string[]): Promise<Ends> {
    if (keys.length === 0) return NONE;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Ends>((resolve) => {
      timer = setTimeout(resolve, WITHIN_MS, NONE);
    });
    try {
      return await Promise.race([this.#readEnds(keys), late]);
    } catch {
      // Without a link there is no answer, and the link itself reports that.
      return NONE;
    } finally {
      clearTimeout(timer);
    }
  }

  async #readEnds(keys: readonly string[]): Promise<Ends> {
    const control = await this.#listener.link.control();
    const found = new Map<string, string>();
    for (const stream of ["out", "err"] as const) {
      const some = keys.filter((key) => this.#streamOf(key) === stream);
      const ends = some.length === 0 ? NONE : await control.readEnds(some, stream);
      const each =
        ends === null ? await Promise.all(some.map((key) => control.readEnds([key], stream))) : [ends];
      for (const [key, text] of each.flatMap((one) => [...(one ?? NONE)])) found.set(key, text);
    }
    return found;
  }
}
