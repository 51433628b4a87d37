// Finds the processes of a test in /proc.

import { readdirSync, readFileSync } from "node:fs";

/** Processes whose HOME is `homeDir`, including detached ones. */
export function pidsWithHome(homeDir: string): number[] {
  return allPids().filter((pid) => readProc(pid, "environ").split("\0").includes(`HOME=${homeDir}`));
}

/** Children, their children and so on. */
export function descendantsOf(root: number): number[] {
  const parents = new Map(allPids().map((pid) => [pid, parentOf(pid)]));
  const found = new Set([root]);
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return [...found];
}

function allPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The name in parentheses may contain spaces and parentheses, so words count from the last one. */
export function parentOf(pid: number): number {
  const stat = readProc(pid, "stat");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? 0);
}

/** The program's name, as the kernel cuts it. */
export function nameOf(pid: number): string {
  return readProc(pid, "comm").trim();
}

/** Its words, each followed by a NUL; empty if it has ended. */
export function commandOf(pid: number): string {
  return readProc(pid, "cmdline");
}

/** Empty if the process is gone, or we may not read it. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

export function killAll(pids: readonly number[]): void {
  signalAll(pids, "SIGKILL");
}

/** A negative number means a process group. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended by itself.
    }
  }
}
