// When things happened in a run, from what `--json` printed.

import { readFile } from "node:fs/promises";

/** Of the last event of this kind, by this computer's clock in ms. */
export async function lastMoment(path: string, kind: string): Promise<number> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  const events = lines.map((line) => JSON.parse(line) as { kind: string; at: number });
  const found = events.findLast((event) => event.kind === kind);
  if (found === undefined) throw new Error(`no event "${kind}" in ${path}`);
  return found.at;
}
