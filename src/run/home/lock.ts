// One client at a time follows a batch. The lock names its holder, so that one left by a killed client is no lock.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { UserError } from "../../errors.js";

export interface Holder {
  readonly pid: number;
  /** Of the process, as the kernel counts: a pid alone may by now be another's. Empty where it cannot be read. */
  readonly startedAt: string;
  readonly host: string;
}

/** Returns how to let go. Throws UserError while another client holds it. */
export function takeLock(path: string): () => void {
  const me: Holder = { pid: process.pid, startedAt: startOf(process.pid) ?? "", host: hostname() };
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
    const isGone = holder.host === hostname() && startOf(holder.pid) !== holder.startedAt;
    return isGone ? null : holder;
  } catch {
    return null;
  }
}

function heldError(path: string, { pid, host }: Holder): UserError {
  const isHere = host === hostname();
  return new UserError(`another client follows this batch: process ${pid}${isHere ? "" : ` on ${host}`}`, {
    hint: isHere ? `watch it there, or end it: kill ${pid} (jobs go on)` : `if it is gone: rm ${path}`,
  });
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
