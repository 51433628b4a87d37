// Makes renamed and created files of a directory survive a power failure.

import { closeSync, fsyncSync, openSync } from "node:fs";

export function syncDirectory(dir: string): void {
  const fd = openSync(dir, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
