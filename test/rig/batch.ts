// Helpers for tests of whole batches: light jobs, jobs that wait for a file, and listings of what a run left behind.

import { readdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

/** So little that only the machine file limits the slots, whatever else runs on this computer. */
export const LIGHT = ["--num-cpus", "0.01", "--memory-required", "1"];
export const LIGHT_NO_GPU = [...LIGHT, "--no-gpu-required"];

/** Shell text that waits until a file exists. */
export function waitFor(path: string): string {
  return `until [ -e '${path}' ]; do sleep 0.05; done`;
}

/** Everything below a directory, sorted; directories end in "/". Empty if the directory does not exist. */
export function listBelow(dir: string, under = ""): string[] {
  const entries = readEntries(join(dir, under)).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = under + entry.name;
    return entry.isDirectory() ? [`${path}/`, ...listBelow(dir, `${path}/`)] : [path];
  });
}

function readEntries(dir: string) {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Everything that a run may leave below a root such as `~/.sshoal`, besides the trees it staged. */
export const EMPTY_SPOOL = ["batches/", `lock@${hostname()}`, "trees/"];

/** The entries below such a root, without the content of trees. */
export function listSpool(root: string): string[] {
  return listBelow(root).filter((path) => !/^trees\/./.test(path));
}

/** The names of the trees below such a root; incomplete ones have other names. */
export function listTrees(root: string): string[] {
  return readEntries(join(root, "trees")).map(({ name }) => name);
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into events of every kind
export type JsonEvent = Record<string, any>;

/** The lines of `--json`; throws if one is not JSON. */
export function parseEvents(stdout: string): JsonEvent[] {
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as JsonEvent]));
}
