// Requests the results of a single job together with the job itself, so that those of a short one arrive with the news of
// its end. A request that came too early, or that does not fit, is dropped: then the results are collected as usual.

import { collectWhenEnded } from "../../remote/results/collect.js";
import type { Running, Session } from "../../transport/session.js";
import type { OutputFiles } from "../home/output-files.js";
import type { Known } from "./known.js";
import type { MachineLink } from "./machine-link.js";
import type { Terms } from "./terms.js";

interface Requested {
  readonly key: string;
  readonly running: Promise<Running>;
}

export interface AheadParts {
  readonly terms: Pick<Terms, "settings">;
  readonly known: Known;
  readonly outputs: OutputFiles;
}

export class ResultsAhead {
  readonly #parts: AheadParts;
  /** Null: it was taken, or there was nothing to request. */
  readonly #requested = new WeakMap<Session, Requested | null>();

  constructor(parts: AheadParts) {
    this.#parts = parts;
  }

  /**
   * Call it while jobs are handed over. Only the first hand-over of a connection counts: later jobs may wait behind others.
   * Excluded results must be moved aside first, so there is no request then.
   */
  request({ session, place }: MachineLink, keys: readonly string[]): void {
    if (this.#requested.has(session)) return;
    this.#requested.set(session, null);
    const { copyBack, exclude = [] } = this.#parts.terms.settings;
    const [key] = keys;
    const isLocal = session.about.transport === "local";
    if (key === undefined || keys.length > 1 || exclude.length > 0 || isLocal) return;
    const jobs = [{ key, streams: STREAMS, copyBack: this.#parts.known.jobOfKey(key).copyBack }];
    const running = collectWhenEnded(session, { place, jobs, copyBack });
    running.catch(() => {}); // the next request reports it
    this.#requested.set(session, { key, running });
  }

  /** The answer to the request for exactly these results; null: there is none. */
  async take({ session }: MachineLink, keys: readonly string[]): Promise<Running | null> {
    const requested = this.#requested.get(session) ?? null;
    if (requested === null) return null;
    this.#requested.set(session, null);
    const running = await requested.running.catch(() => null);
    if (running === null) return null;
    const isSame = keys.length === 1 && keys[0] === requested.key;
    // Output that has begun to arrive is here in part, and the answer has all of it.
    const isUntouched = this.#parts.outputs.untouched(requested.key).length === STREAMS.length;
    if (isSame && isUntouched && (await hasOutput(running))) return running;
    running.close();
    return null;
  }
}

const STREAMS = ["out", "err"] as const;

/** False if it ends without output. */
async function hasOutput({ stdout }: Running): Promise<boolean> {
  if (stdout.readableLength > 0 || stdout.destroyed) return stdout.readableLength > 0;
  return new Promise((resolve) => {
    stdout.once("readable", () => resolve(stdout.readableLength > 0));
    stdout.once("close", () => resolve(false));
  });
}
