// A queue whose jobs run on a worker that has dialled in, in a directory of that worker. Its command begins with the words
// that change to the directory, so that jobs need no copy of one. Pure.

import type { QueueSpec } from "../../../model/queue.js";

const IN_DIRECTORY = ["sh", "-c", 'cd -- "$0" && exec "$@"'];

/** The command of a queue whose jobs run in `dir`. */
export function inDirectory(dir: string, words: readonly string[]): readonly string[] {
  return [...IN_DIRECTORY, dir, ...words];
}

export function isWorkerQueue({ prefix }: Pick<QueueSpec, "prefix">): boolean {
  return IN_DIRECTORY.every((word, index) => prefix[index] === word);
}

/** Null: it is no such queue. */
export function workerDirectory({ prefix }: Pick<QueueSpec, "prefix">): string | null {
  return isWorkerQueue({ prefix }) ? (prefix[IN_DIRECTORY.length] ?? null) : null;
}

/** The words that a user gave it. */
export function ownPrefix({ prefix }: Pick<QueueSpec, "prefix">): readonly string[] {
  return isWorkerQueue({ prefix }) ? prefix.slice(IN_DIRECTORY.length + 1) : prefix;
}
