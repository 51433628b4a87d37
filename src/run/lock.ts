// One client at a time follows a batch. The lock names its holder, so that one left by a killed client is no lock.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { UserError } from "../errors.js";

export interface Holder {
  readonly pid: number;
  /** Of the process, as the kernel counts: a pid alone may by now be another's. Empty where it cannot be read. */
  readonly startedAt: string;
  readonly host: string;
}

/** Returns how to let go. Throws UserError while another client holds it. */
export function takeLock(path: string): () => void {
  const me: Holder = { pid: process.pid, startedAt: startOf(process.pid) ?? "", host: hostname() };
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify(me), { flag: "wx", mode: 0o600 });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = readHolder(path);
    if (holder !== null) throw heldError(path, holder);
    rmSync(path, { force: true });
  }
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
