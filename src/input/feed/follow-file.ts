// Follows the lines of a growing file like `tail -F`, also when it is replaced (rotation) or emptied. No line is lost
// or read twice, even by a client that resumes later.

import { createHash } from "node:crypto";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FeedPosition } from "../../model/batch.js";
import { type Line, LineCutter } from "./line-cutter.js";
import type { LineChunk } from "./line-source.js";

const LOOK_EVERY_MS = 200;
const READ_BYTES = 1 << 16;
/** How many bytes before a position are remembered, to check that the file is still the same. */
const TAIL_BYTES = 64;

/** Throws as node:fs does if the file does not exist at first; ends when `signal` aborts. */
export async function* followFile(
  path: string,
  from: FeedPosition | null,
  signal: AbortSignal,
): AsyncGenerator<LineChunk> {
  let lines = from?.lines ?? 0;
  let followed = await begin(path, from);
  try {
    for (;;) {
      for await (const batch of followed.read()) {
        const before = lines;
        lines += batch.length;
        yield chunkOf(followed, batch, before);
      }
      if (await pause(signal)) return;
      const next = await successorOf(path, followed.id);
      if (next === null) continue;
      // A process that had the old file open may have written a last line in the meantime.
      const last = await followed.readToEnd();
      yield chunkOf(followed, last, lines);
      lines += last.length;
      await followed.close();
      followed = next;
    }
  } finally {
    await followed.close();
  }
}

/** True: the signal has aborted. */
async function pause(signal: AbortSignal): Promise<boolean> {
  await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  return signal.aborted;
}

function chunkOf(followed: Followed, lines: readonly Line[], before: number): LineChunk {
  return {
    lines,
    positionAfter: async (index) => {
      const offset = lines[index]?.end ?? 0;
      return {
        file: followed.id,
        offset,
        lines: before + index + 1,
        digest: digestOf(await followed.tailBefore(offset)),
      };
    },
  };
}

/** Continues at the old position; if that file has another name by now, starts with that one. */
async function begin(path: string, from: FeedPosition | null): Promise<Followed> {
  const named = await Followed.open(path);
  if (from === null) return named;
  if (await named.goTo(from)) return named;
  for (const name of await readdir(dirname(path))) {
    const other = await openIf(join(dirname(path), name), (id) => id === from.file && id !== named.id);
    if (other === null) continue;
    if (await other.goTo(from)) {
      await named.close();
      return other;
    }
    await other.close();
  }
  return named;
}

/** The file that has the name now, if it is another one. */
function successorOf(path: string, id: string): Promise<Followed | null> {
  return openIf(path, (other) => other !== id);
}

async function openIf(path: string, isWanted: (id: string) => boolean): Promise<Followed | null> {
  try {
    const status = await stat(path, { bigint: true });
    if (!status.isFile() || !isWanted(`${status.dev}:${status.ino}`)) return null;
    return await Followed.open(path);
  } catch {
    return null;
  }
}

function digestOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}

/** Owns a file handle: call close(). */
class Followed {
  readonly id: string;
  readonly #handle: FileHandle;
  #offset = 0;
  #tail: Buffer = Buffer.alloc(0);
  #cutter = new LineCutter();

  private constructor(id: string, handle: FileHandle) {
    this.id = id;
    this.#handle = handle;
  }

  static async open(path: string): Promise<Followed> {
    const handle = await open(path, "r");
    const { dev, ino } = await handle.stat({ bigint: true });
    return new Followed(`${dev}:${ino}`, handle);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** False if it is not the file that was read up to there. */
  async goTo({ file, offset, digest }: FeedPosition): Promise<boolean> {
    if (file !== this.id) return false;
    const tail = await this.tailBefore(offset);
    if (digestOf(tail) !== digest) return false;
    this.#moveTo(offset, tail);
    return true;
  }

  /** The new lines; from the start if the file was emptied. */
  async *read(): AsyncGenerator<Line[]> {
    if (!(await this.#isAsRead())) {
      yield this.#cutter.end();
      this.#moveTo(0, Buffer.alloc(0));
    }
    for (;;) {
      const { bytesRead, buffer } = await this.#handle.read(
        Buffer.alloc(READ_BYTES),
        0,
        READ_BYTES,
        this.#offset,
      );
      if (bytesRead === 0) return;
      const bytes = buffer.subarray(0, bytesRead);
      this.#offset += bytesRead;
      this.#tail = Buffer.concat([this.#tail, bytes.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
      yield this.#cutter.cut(bytes);
    }
  }

  /** For a file that has ended: its last line may have no line end. */
  async readToEnd(): Promise<Line[]> {
    const lines: Line[] = [];
    for await (const some of this.read()) lines.push(...some);
    return [...lines, ...this.#cutter.end()];
  }

  async tailBefore(offset: number): Promise<Buffer> {
    const length = Math.min(TAIL_BYTES, offset);
    const { bytesRead, buffer } = await this.#handle.read(Buffer.alloc(length), 0, length, offset - length);
    return buffer.subarray(0, bytesRead);
  }

  async #isAsRead(): Promise<boolean> {
    const { size } = await this.#handle.stat();
    return size >= this.#offset && (await this.tailBefore(this.#offset)).equals(this.#tail);
  }

  #moveTo(offset: number, tail: Buffer): void {
    this.#offset = offset;
    this.#tail = tail;
    this.#cutter = new LineCutter(offset);
  }
}
