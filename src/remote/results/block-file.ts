// An empty file that is written block by block, while the next block arrives: past the system's cache where that can be
// done. To copy gigabytes into the cache, and from there to the disk, costs more than to decrypt them.

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Smaller ones are likely to be read soon. */
const DIRECT_BYTES = 16 << 20;
const FLUSH_BYTES = 64 << 20;

export class BlockFile {
  readonly #handle: FileHandle;
  /** The same file, without the cache; null: by way of the cache. */
  #direct: FileHandle | null;
  #writing: Promise<void> = Promise.resolve();
  #flushing: Promise<void> = Promise.resolve();
  #position = 0;
  #unflushedBytes = 0;

  private constructor(handle: FileHandle, direct: FileHandle | null) {
    this.#handle = handle;
    this.#direct = direct;
  }

  /** The file is there, and empty. */
  static async open(file: string, size: number): Promise<BlockFile> {
    const handle = await open(file, constants.O_WRONLY | constants.O_NOFOLLOW);
    return new BlockFile(handle, size < DIRECT_BYTES ? null : await openDirect(file));
  }

  /** Resolves when the block before this one is written, and may be filled again. */
  async write(block: Buffer): Promise<void> {
    await this.#writing;
    await this.#flushSome();
    this.#writing = this.#writeAt(block, this.#position);
    this.#writing.catch(() => {}); // awaited by the next one, or by finish
    this.#position += block.length;
  }

  /** Rejects when something could not be written. */
  async finish({ mode, mtime }: { mode: number; mtime: Date | undefined }): Promise<void> {
    await this.#writing;
    await this.#flushing;
    await this.#handle.chmod(mode);
    if (mtime) await this.#handle.utimes(mtime, mtime);
  }

  /** Nothing is written any more when this resolves. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#flushing]);
    await this.#direct?.close();
    await this.#handle.close();
  }

  /** What the disk does not take directly (a length that is no multiple of its own, some file systems) goes the usual way. */
  async #writeAt(block: Buffer, position: number): Promise<void> {
    if (this.#direct !== null && (await succeeds(writeAll(this.#direct, block, position)))) return;
    await this.#goIndirect();
    await writeAll(this.#handle, block, position);
    this.#unflushedBytes += block.length;
  }

  async #goIndirect(): Promise<void> {
    await this.#direct?.close();
    this.#direct = null;
  }

  /** The disk is kept busy meanwhile: to bring gigabytes to it only at the end would take as long again. */
  async #flushSome(): Promise<void> {
    if (this.#unflushedBytes < FLUSH_BYTES) return;
    await this.#flushing;
    this.#unflushedBytes = 0;
    this.#flushing = this.#handle.datasync();
    this.#flushing.catch(() => {});
  }
}

/** Null: it cannot be done here. Some systems know no such flag, some file systems refuse it. */
async function openDirect(file: string): Promise<FileHandle | null> {
  if (!constants.O_DIRECT) return null;
  return open(file, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_DIRECT).catch(() => null);
}

/** A disk that is about to be full takes a part of what it is given, and says so only in the number of bytes. */
async function writeAll(handle: FileHandle, block: Buffer, position: number): Promise<void> {
  for (let done = 0; done < block.length; )
    done += (await handle.write(block, done, block.length - done, position + done)).bytesWritten;
}

function succeeds(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
