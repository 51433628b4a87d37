// Connections with several users: connections to jump hosts, and those of several batches to one machine. Each is
// opened for its first user and closed after its last; a dead one is opened again.

import { raceAbort } from "./aborted.js";
import { ConnectError } from "./connect-error.js";

export interface Shareable {
  readonly gone: Promise<string>;
  close(): Promise<void>;
}

export interface Lease<T> {
  readonly shared: T;
  /** May be called again. Resolves with true, for the last user, when the connection is closed. */
  release(): Promise<boolean>;
  /** The connection stays for its users; the next caller gets another one. */
  retire(): void;
}

interface Entry<T> {
  users: number;
  readonly opening: Promise<T>;
  /** Aborted when no caller waits for it any more. */
  readonly abort: AbortController;
}

export interface Sharing {
  /** Users beyond this number get another connection. */
  readonly mostUsers: number;
  /** A connection that needs a person first is not tried again. */
  readonly remembersRefusals: boolean;
}

export class Shared<T extends Shareable> {
  readonly #sharing: Sharing;
  readonly #entries = new Map<string, Entry<T>>();
  /** Refusals that need a person first: repeated attempts for other machines can get a user banned. */
  readonly #refused = new Map<string, ConnectError>();

  constructor(sharing: Sharing = { mostUsers: Number.POSITIVE_INFINITY, remembersRefusals: true }) {
    this.#sharing = sharing;
  }

  /** Rejects as `open` does, or with the signal's reason; in that case it stays open for other users. */
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
    const retire = () => this.#forget(name, entry);
    if (entry.users >= this.#sharing.mostUsers) retire();
    const release = once(() => this.#release(name, entry));
    const abort = raceAbort(signal);
    try {
      return { shared: await abort.race(entry.opening), release, retire };
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
        if (!this.#sharing.remembersRefusals) return;
        if (error instanceof ConnectError && !error.isRetryable) this.#refused.set(name, error);
      },
    );
    return entry;
  }

  #forget(name: string, entry: Entry<T>): void {
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
  }

  async #release(name: string, entry: Entry<T>): Promise<boolean> {
    entry.users--;
    if (entry.users > 0) return false;
    this.#forget(name, entry);
    entry.abort.abort(new Error("no longer needed"));
    await entry.opening.then(
      (shared) => shared.close(),
      () => {},
    );
    return true;
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | null = null;
  return () => {
    done ??= work();
    return done;
  };
}
