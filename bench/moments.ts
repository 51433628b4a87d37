// Finds the times of events in the output of `--json`; by the local clock, in ms.

import { readFile } from "node:fs/promises";

export async function firstMoment(path: string, kind: string): Promise<number> {
  return (await momentsOf(path, kind))[0] as number;
}

export async function lastMoment(path: string, kind: string): Promise<number> {
  return (await momentsOf(path, kind)).at(-1) as number;
}

async function momentsOf(path: string, kind: string): Promise<number[]> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  const events = lines.map((line) => JSON.parse(line) as { kind: string; at: number });
  const moments = events.filter((event) => event.kind === kind).map(({ at }) => at);
  if (moments.length === 0) throw new Error(`no event "${kind}" in ${path}`);
  return moments;
}
