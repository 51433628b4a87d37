// Lets only one client at a time follow a batch. The lock names its holder, so that the lock of a killed client does
// not count.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { UserError } from "../../errors.js";

/** Where the holder of a lock answers. */
export interface HolderSockets {
  /** For commands of this version; absent: there is none. */
  readonly socket?: string;
  /** The HTTP API; absent: there is none, as with a client of an older version. */
  readonly api?: string;
}

export interface Holder extends HolderSockets {
  readonly pid: number;
  /** The start time of the process as the kernel counts it, because a pid can be reused. Empty if it cannot be read. */
  readonly startedAt: string;
  readonly host: string;
}

/** A client's lock on a batch, kept through all its runs of the batch. */
export class RunLock {
  readonly #sockets: HolderSockets;
  readonly #isKept: () => boolean;
  #free: (() => void) | null = null;

  /** `isKept`: another run of the same client follows. */
  constructor(sockets: HolderSockets, isKept: () => boolean = () => false) {
    this.#sockets = sockets;
    this.#isKept = isKept;
  }

  /** Throws UserError if another client holds it. */
  take(path: string): void {
    this.#free ??= takeLock(path, this.#sockets);
  }

  readonly release = (): void => {
    if (this.#isKept()) return;
    this.#free?.();
    this.#free = null;
  };
}

/** Returns the function that releases the lock. Throws UserError if another client holds it. */
export function takeLock(path: string, sockets: HolderSockets = {}): () => void {
  const me: Holder = {
    pid: process.pid,
    startedAt: startOf(process.pid) ?? "",
    host: hostname(),
    ...sockets,
  };
  const mine = `${path}.${process.pid}`;
  // Linking is atomic and the file is already complete, so no client ever reads a half-written lock.
  writeFileSync(mine, JSON.stringify(me), { mode: 0o600 });
  try {
    while (!linkIfFree(mine, path)) {
      const holder = readHolder(path);
      if (holder !== null) throw heldError(path, holder);
      discardStale(path);
    }
  } finally {
    rmSync(mine, { force: true });
  }
  return () => rmSync(path, { force: true });
}

function linkIfFree(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Another client may have taken the lock in the meantime. So the removed file is checked again, and put back if it is
 * live.
 */
function discardStale(path: string): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if (readHolder(aside) !== null) linkIfFree(aside, path);
  rmSync(aside, { force: true });
}

/** The holder; null if there is none or its process has ended. */
export function readHolder(path: string): Holder | null {
  try {
    const holder = JSON.parse(readFileSync(path, "utf8")) as Holder;
    const isStale = isHere(holder) && startOf(holder.pid) !== holder.startedAt;
    return isStale ? null : holder;
  } catch {
    return null;
  }
}

export function heldError(path: string, holder: Holder): UserError {
  const { pid, host, socket } = holder;
  const where = isHere(holder) ? "" : ` on ${host}`;
  const watch = socket === undefined ? "watch it in its terminal" : "watch it: sshoal attach --watch";
  return new UserError(`another client follows this batch: process ${pid}${where}`, {
    hint: isHere(holder) ? `${watch}, or end it: kill ${pid} (jobs continue)` : `if it is gone: rm ${path}`,
  });
}

/** True if it runs on this computer. */
export function isHere({ host }: Pick<Holder, "host">): boolean {
  return host === hostname();
}

/** There is no process of this number. */
export function isGone(pid: number): boolean {
  return startOf(pid) === null;
}

/** Null: there is no such process. */
function startOf(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return null;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // It has ended, and its parent has not asked how: the first process of some containers never asks.
    return fields[0] === "Z" ? null : (fields[19] ?? "");
  } catch {
    return "";
  }
}
