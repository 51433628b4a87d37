// Writes an empty file block by block while the next block arrives, bypassing the system's cache if possible. Copying
// gigabytes into the cache and then to the disk costs more than decrypting them.

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Smaller files use the cache, because they are likely to be read soon. */
const DIRECT_BYTES = 16 << 20;
const FLUSH_BYTES = 64 << 20;

export class BlockFile {
  readonly #handle: FileHandle;
  /** The same file, opened without the cache; null: through the cache. */
  #direct: FileHandle | null;
  #writing: Promise<void> = Promise.resolve();
  #flushing: Promise<void> = Promise.resolve();
  #position = 0;
  #unflushedBytes = 0;

  private constructor(handle: FileHandle, direct: FileHandle | null) {
    this.#handle = handle;
    this.#direct = direct;
  }

  /** The file must exist and be empty. */
  static async open(file: string, size: number): Promise<BlockFile> {
    const handle = await open(file, constants.O_WRONLY | constants.O_NOFOLLOW);
    return new BlockFile(handle, size < DIRECT_BYTES ? null : await openDirect(file));
  }

  /** Resolves when the previous block is written and may be filled again. */
  async write(block: Buffer): Promise<void> {
    await this.#writing;
    await this.#flushSome();
    this.#writing = this.#writeAt(block, this.#position);
    this.#writing.catch(() => {}); // awaited by the next one, or by finish
    this.#position += block.length;
  }

  /** Rejects if something could not be written. */
  async finish({ mode, mtime }: { mode: number; mtime: Date | undefined }): Promise<void> {
    await this.#writing;
    await this.#flushing;
    await this.#handle.chmod(mode);
    if (mtime) await this.#handle.utimes(mtime, mtime);
  }

  /** No write is in progress once this resolves. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#flushing]);
    await this.#direct?.close();
    await this.#handle.close();
  }

  /** If a direct write fails (an unaligned length, some file systems), the block is written through the cache. */
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

  /** Flushes in between, because flushing gigabytes only at the end would take as long again. */
  async #flushSome(): Promise<void> {
    if (this.#unflushedBytes < FLUSH_BYTES) return;
    await this.#flushing;
    this.#unflushedBytes = 0;
    this.#flushing = this.#handle.datasync();
    this.#flushing.catch(() => {});
  }
}

/** Null if direct writes do not work: some systems lack the flag, and some file systems refuse it. */
async function openDirect(file: string): Promise<FileHandle | null> {
  if (!constants.O_DIRECT) return null;
  return open(file, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_DIRECT).catch(() => null);
}

/** A disk that is nearly full writes a part, and reports it only by the number of bytes. */
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
