// Sends the output of a job as it grows, no faster than it is read.

import { once } from "node:events";
import { type FileHandle, open } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import type { JobId } from "../model/job.js";
import type { QueueService } from "./queue-service.js";

interface AskedLog {
  readonly service: QueueService;
  readonly queue: string;
  readonly id: JobId;
  readonly stream: "out" | "err";
  /** In bytes. */
  readonly from: number;
  /** Until the job is over. */
  readonly follows: boolean;
  readonly signal: AbortSignal;
}

const PIECE_BYTES = 64 << 10;
/** Watching files needs a resource of the kernel that may have run out. */
const LOOK_MS = 250;

export async function sendLog(response: ServerResponse, asked: AskedLog): Promise<void> {
  const { service, queue, id, stream, follows, signal } = asked;
  const path = service.logPath(queue, id, stream);
  const size = await sizeOf(path);
  response.writeHead(200, { "content-type": "text/plain; charset=utf-8", "sshoal-size": size });
  response.flushHeaders();
  let at = asked.from;
  for (;;) {
    // Asked before the output is read: all of it is there when a job is over.
    const isLast = !follows || isOver(service, queue, id);
    // A job that is run again has a new file.
    if (follows && (await sizeOf(path)) < at) at = 0;
    at = await sendFrom(path, at, response, signal);
    // Not an orderly end: the log has more to come.
    if (signal.aborted) return void response.destroy();
    if (isLast) return void response.end();
    await news(asked);
  }
}

/** No more of its output comes. A job that has ended may have printed more than was fetched before. */
function isOver(service: QueueService, queue: string, id: JobId): boolean {
  const [job] = service.jobs({ queue, ids: [id] });
  if (job === undefined) return true;
  if (job.state === "waiting" || job.state === "running") return false;
  return job.isHere || job.outcome === null || job.reason !== null;
}

/** Until the end that the file has now. Returns that offset. */
async function sendFrom(
  path: string,
  from: number,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<number> {
  const file = await openIfThere(path);
  if (file === null) return from;
  let at = from;
  try {
    const { size } = await file.stat();
    while (at < size && !signal.aborted) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at));
      const { bytesRead } = await file.read(piece, 0, piece.length, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      const isFull = !response.write(piece.subarray(0, bytesRead));
      if (isFull) await once(response, "drain", { signal }).catch(() => {});
    }
  } finally {
    await file.close();
  }
  return at;
}

async function sizeOf(path: string): Promise<number> {
  const file = await openIfThere(path);
  if (file === null) return 0;
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Resolves when it is time to look again: at once if something happened to the job. */
function news({ service, queue, id, signal }: AskedLog): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      leave();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, LOOK_MS);
    const leave = service.onEvent((event) => {
      if (event.queue === queue && event.job === id) end();
    });
    signal.addEventListener("abort", end);
  });
}
