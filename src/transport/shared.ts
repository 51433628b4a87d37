// Connections that several machines use at once: jump hosts. Each is opened for the first that needs it and closed with
// the last; one that has died is opened anew.

import { raceAbort } from "./aborted.js";
import { ConnectError } from "./connect-error.js";

export interface Shareable {
  readonly gone: Promise<string>;
  close(): Promise<void>;
}

export interface Lease<T> {
  readonly shared: T;
  /** Once more does no harm. Resolves, for the last one, when the connection is closed. */
  release(): Promise<void>;
}

interface Entry<T> {
  users: number;
  readonly opening: Promise<T>;
  /** Nobody waits for it any more. */
  readonly abort: AbortController;
}

export class Shared<T extends Shareable> {
  readonly #entries = new Map<string, Entry<T>>();
  /** What needs a person first: asking again for the next machine gets people banned. */
  readonly #refused = new Map<string, ConnectError>();

  /** Rejects as `open` does, or with the signal's reason, which leaves it open for others. */
  async lease(
    name: string,
    open: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<Lease<T>> {
    signal?.throwIfAborted();
    const refused = this.#refused.get(name);
    if (refused !== undefined) throw refused;
    const entry = this.#entries.get(name) ?? this.#open(name, open);
    entry.users++;
    const release = once(() => this.#release(name, entry));
    const abort = raceAbort(signal);
    try {
      return { shared: await abort.race(entry.opening), release };
    } catch (error) {
      void release();
      throw error;
    } finally {
      abort.done();
    }
  }

  #open(name: string, open: (signal: AbortSignal) => Promise<T>): Entry<T> {
    const abort = new AbortController();
    const entry: Entry<T> = { users: 0, opening: open(abort.signal), abort };
    this.#entries.set(name, entry);
    entry.opening.then(
      (shared) => shared.gone.then(() => this.#forget(name, entry)),
      (error) => {
        this.#forget(name, entry);
        if (error instanceof ConnectError && !error.isRetryable) this.#refused.set(name, error);
      },
    );
    return entry;
  }

  #forget(name: string, entry: Entry<T>): void {
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
  }

  async #release(name: string, entry: Entry<T>): Promise<void> {
    entry.users--;
    if (entry.users > 0) return;
    this.#forget(name, entry);
    entry.abort.abort(new Error("no longer needed"));
    await entry.opening.then(
      (shared) => shared.close(),
      () => {},
    );
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => {
    done ??= work();
    return done;
  };
}
