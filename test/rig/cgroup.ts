// A cgroup with a limit to memory, in which the kernel really kills jobs.

import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./until.js";

export interface TestCgroup {
  readonly dir: string;
  /** Moves a process; its later children begin there. */
  add(pid: number): void;
  /** Waits until no process is left in it. */
  remove(): Promise<unknown>;
}

/** Null: this account cannot make one. */
export function makeCgroup(limitMb: number): TestCgroup | null {
  const name = `sshoal-test-${process.pid}`;
  for (const [root, limit] of [
    ["/sys/fs/cgroup/memory", "memory.limit_in_bytes"],
    ["/sys/fs/cgroup", "memory.max"],
  ] as const) {
    const dir = join(root, name);
    try {
      mkdirSync(dir);
    } catch {
      continue;
    }
    try {
      writeFileSync(join(dir, limit), String(limitMb * 2 ** 20));
      const add = (pid: number) => writeFileSync(join(dir, "cgroup.procs"), String(pid));
      return { dir, add, remove: () => until(`no process in ${dir}`, () => isRemoved(dir)) };
    } catch {
      rmdirSync(dir);
    }
  }
  return null;
}

function isRemoved(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch {
    return false;
  }
}
