import { appendFile, rename, truncate, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { followFile } from "../../../../src/input/feed/follow-file.js";
import type { FeedPosition } from "../../../../src/model/batch.js";
import { until } from "../../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let path: string;
let running: AbortController[];

beforeEach(async () => {
  work = await makeWorkspace({ queue: "" });
  path = work.path("queue");
  running = [];
});
afterEach(async () => {
  for (const each of running) each.abort();
  await work.remove();
});

interface Follower {
  readonly seen: string[];
  position: FeedPosition | null;
  /** Resolves once it has ended. */
  stop(): Promise<void>;
}

function follow(from: FeedPosition | null = null): Follower {
  const abort = new AbortController();
  running.push(abort);
  const follower: Follower = {
    seen: [],
    position: null,
    async stop() {
      abort.abort();
      await ended;
    },
  };
  const ended = (async () => {
    for await (const { lines, positionAfter } of followFile(path, from, abort.signal)) {
      if (lines.length === 0) continue;
      follower.position = await positionAfter(lines.length - 1);
      follower.seen.push(...lines.map(({ text }) => text));
    }
  })();
  return follower;
}

function untilSeen({ seen }: Follower, ...lines: string[]): Promise<unknown> {
  return until(
    `${JSON.stringify(lines)}, not ${JSON.stringify(seen)}`,
    () => seen.length >= lines.length,
  ).then(() => expect(seen).toEqual(lines));
}

test("existing lines and appended ones; a line counts when it has ended", async () => {
  await writeFile(path, "one\ntw");
  const follower = follow();
  await untilSeen(follower, "one");
  await appendFile(path, "o\nthree\n");
  await untilSeen(follower, "one", "two", "three");
});

test("after rotation, the old file is read to its end, then the new one from its start", async () => {
  await writeFile(path, "one\n");
  const follower = follow();
  await untilSeen(follower, "one");
  await appendFile(path, "two\nthree without an end");
  await rename(path, work.path("queue.1"));
  await writeFile(path, "four\n");
  await untilSeen(follower, "one", "two", "three without an end", "four");
  await appendFile(path, "five\n");
  await untilSeen(follower, "one", "two", "three without an end", "four", "five");
});

test("after the file was missing for a while, the next file of that name is read", async () => {
  await writeFile(path, "one\n");
  const follower = follow();
  await untilSeen(follower, "one");
  await rename(path, work.path("aside"));
  await appendFile(work.path("aside"), "two\n");
  await untilSeen(follower, "one", "two");
  await writeFile(path, "three\n");
  await untilSeen(follower, "one", "two", "three");
});

test.each([
  ["shorter", "new\n"],
  ["as long", "xxx\nxxx\n"],
  ["longer", "a new line\nand another\n"],
])("emptied and rewritten, %s than before: it is read from its start", async (_, text) => {
  await writeFile(path, "one\ntwo\n");
  const follower = follow();
  await untilSeen(follower, "one", "two");
  await writeFile(path, text);
  await untilSeen(follower, "one", "two", ...text.trimEnd().split("\n"));
});

test("if it is emptied after half a line, that half is not lost", async () => {
  await writeFile(path, "one\nhalf");
  const follower = follow();
  await untilSeen(follower, "one");
  await truncate(path);
  await untilSeen(follower, "one", "half");
});

test("resuming later reads the new lines, and none twice", async () => {
  await writeFile(path, "one\ntwo\n");
  const first = follow();
  await untilSeen(first, "one", "two");
  await first.stop();
  await appendFile(path, "three\n");
  const second = follow(first.position);
  await untilSeen(second, "three");
  expect(second.position?.lines).toBe(3);
});

test("resuming later finds the rest of a rotated file under its new name", async () => {
  await writeFile(path, "one\n");
  const first = follow();
  await untilSeen(first, "one");
  await first.stop();
  await appendFile(path, "two\n");
  await rename(path, work.path("queue-20261117.old"));
  await writeFile(path, "three\n");
  const second = follow(first.position);
  await untilSeen(second, "two", "three");
  expect(second.position?.lines).toBe(3);
});

test("resuming later reads a file that was emptied from its start", async () => {
  await writeFile(path, "one\ntwo\n");
  const first = follow();
  await untilSeen(first, "one", "two");
  await first.stop();
  await writeFile(path, "three, which is longer\n");
  await untilSeen(follow(first.position), "three, which is longer");
});

test("many lines at once, longer than one read", async () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `${index} ${"x".repeat(index % 90)}é`);
  await writeFile(path, `${lines.join("\n")}\n${"y".repeat(200_000)}\n`);
  const follower = follow();
  await until("all", () => follower.seen.length === 5001);
  expect(follower.seen.slice(0, 5000)).toEqual(lines);
});
