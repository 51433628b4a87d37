// Lists all entries below a directory. Node's own recursive readdir follows links from Node 22 on, even in circles.

import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

export function entriesBelow(dir: string): Dirent[] {
  const entries = readdirSync(dir, { withFileTypes: true });
  return entries.flatMap((entry) => [
    entry,
    ...(entry.isDirectory() ? entriesBelow(join(dir, entry.name)) : []),
  ]);
}
