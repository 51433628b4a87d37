// Simulates a reboot: all processes of a machine end at the same moment, and its files name another boot.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listBelow } from "./batch.js";
import { killAll, parentOf, signalAll } from "./processes.js";
import type { TestHost } from "./sshd.js";

const EARLIER_BOOT = "00000000-0000-4000-8000-000000000000";
const NAMES_BOOT = /^[^/]+\/(holder|slots\/[^/]+\/(keeper|job|loop|copied))$/;

/** Connections stay, because sshd itself continues. The caller cuts them. */
export function rebootHost(host: Pick<TestHost, "pids" | "homeDir">): void {
  const frozen = freeze(host);
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const batches = join(host.homeDir, ".sshoal/batches");
  for (const path of listBelow(batches).filter((name) => NAMES_BOOT.test(name))) {
    const file = join(batches, path);
    writeFileSync(file, readFileSync(file, "utf8").replace(boot, EARLIER_BOOT));
  }
  killAll(childrenFirst(frozen));
}

/** The kernel continues orphaned groups: a stopped process whose parent ends first would run for a moment. */
function childrenFirst(pids: readonly number[]): number[] {
  const known = new Set(pids);
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]));
  const depthOf = (pid: number): number => (known.has(pid) ? 1 + depthOf(parents.get(pid) ?? 0) : 0);
  return pids.toSorted((a, b) => depthOf(b) - depthOf(a));
}

/** Stops all of them first, including new ones, so that none sees another one end. */
function freeze(host: Pick<TestHost, "pids">): number[] {
  const frozen = new Set<number>();
  for (let quietLooks = 0; quietLooks < 2; ) {
    const fresh = host.pids().filter((pid) => !frozen.has(pid));
    signalAll(fresh, "SIGSTOP");
    for (const pid of fresh) frozen.add(pid);
    quietLooks = fresh.length === 0 ? quietLooks + 1 : 0;
  }
  return [...frozen];
}
