// One client at a time follows a batch. The lock names its holder, so that one left by a killed client is no lock.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { UserError } from "../../errors.js";

export interface Holder {
  readonly pid: number;
  /** Of the process, as the kernel counts: a pid alone may by now be another's. Empty where it cannot be read. */
  readonly startedAt: string;
  readonly host: string;
  /** Where it can be asked for something; absent: nowhere. */
  readonly socket?: string;
}

/** A client's hold on a batch, through as many runs of it as the client makes. */
export class RunLock {
  readonly #socket: string | null;
  readonly #isKept: () => boolean;
  #free: (() => void) | null = null;

  /** `isKept`: another run of the same client follows. */
  constructor(socket: string | null, isKept: () => boolean = () => false) {
    this.#socket = socket;
    this.#isKept = isKept;
  }

  /** Throws UserError while another client holds it. */
  take(path: string): void {
    this.#free ??= takeLock(path, this.#socket);
  }

  readonly release = (): void => {
    if (this.#isKept()) return;
    this.#free?.();
    this.#free = null;
  };
}

/** Returns how to let go. Throws UserError while another client holds it. */
export function takeLock(path: string, socket: string | null = null): () => void {
  const me: Holder = {
    pid: process.pid,
    startedAt: startOf(process.pid) ?? "",
    host: hostname(),
    ...(socket !== null && { socket }),
  };
  const mine = `${path}.${process.pid}`;
  // A link is made in one step, with all that the file says: nobody ever reads a lock that is half written.
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

/** Whoever was quicker may hold it by now: what was taken away is looked at once more, and put back. */
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

/** Who holds it; null: nobody that is still there. */
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
  const watch = socket === undefined ? "watch it there" : "watch it: sshoal attach --watch";
  return new UserError(`another client follows this batch: process ${pid}${where}`, {
    hint: isHere(holder) ? `${watch}, or end it: kill ${pid} (jobs go on)` : `if it is gone: rm ${path}`,
  });
}

/** It runs on this computer. */
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
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
