// What a shell can complete for a value of an option or for an argument. The word in its brackets says what it is: <file>, [jobs...].

import type { WordKind } from "../../model/word-kind.js";

/** "words": the choices of the definition; "none": only a person knows. */
export type ValueKind = WordKind | "files" | "words" | "none";

/** With the command in front where a word means something else there. */
const KINDS: Readonly<Record<string, ValueKind>> = {
  machines: "machines",
  machine: "machines",
  "drain machine": "drainable",
  "undrain machine": "drainable",
  batch: "batches",
  batches: "batches",
  jobs: "jobs",
  directory: "files",
  file: "files",
  paths: "files",
  script: "files",
  "sweep command": "files",
  queue: "queues",
  "queue name": "queues",
  "queue words": "machines",
  "enqueue command": "files",
  command: "none",
  command_pattern: "none",
  "create-queue command": "files",
  address: "none",
  amounts: "none",
  cards: "none",
  ids: "none",
  column: "none",
  duration: "none",
  MB: "none",
  n: "none",
  model: "none",
  name: "none",
  "NAME=VALUE": "none",
  needs: "none",
  pattern: "none",
  rule: "none",
  server: "machines",
  "host:port": "none",
  share: "none",
  size: "none",
  word: "none",
  words: "none",
};

/** Null: the table has no such word, and a test fails. */
export function valueKind(command: string, word: string): ValueKind | null {
  return KINDS[`${command} ${word}`] ?? KINDS[word] ?? null;
}
