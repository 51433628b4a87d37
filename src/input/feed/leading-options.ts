// Reads the #@ lines at the top of a growing file again, which an earlier client has read past.

import { open } from "node:fs/promises";
import { bashAt } from "../batch/ask-bash.js";
import { JobSplitter, type OptionLine } from "../batch/job-splitter.js";

/** Options are at the beginning, so that a large file is not read whole. */
const TOP_BYTES = 65_536;

/** Those before the first job that are not right above it. None if the file cannot be read: following it reports that. */
export async function readTopOptions(path: string): Promise<OptionLine[]> {
  const splitter = new JobSplitter(bashAt("bash"));
  const found: OptionLine[] = [];
  for (const line of await firstLines(path).catch(() => [])) {
    for (const { kind, options } of await splitter.add([line])) {
      if (kind === "job") return found;
      found.push(...options);
    }
    if (splitter.held !== null) return found;
  }
  return found;
}

async function firstLines(path: string): Promise<string[]> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TOP_BYTES), 0, TOP_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead).split("\n");
  } finally {
    await file.close();
  }
}
