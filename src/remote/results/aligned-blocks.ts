// Two blocks of memory, one to fill while the other is written. They begin at the beginning of a page: the disk takes
// nothing else directly.

/** Enough that the disk, and a thread for each write, are worth it. */
export const BLOCK_BYTES = 2 << 20;

export type Blocks = readonly [Buffer, Buffer];

const idle: Blocks[] = [];

/** The caller puts them back once nothing is written from them any more. */
export function takeBlocks(): Blocks {
  return idle.pop() ?? cut(reserve(2 * BLOCK_BYTES));
}

export function putBack(blocks: Blocks): void {
  idle.push(blocks);
}

function cut(memory: ArrayBuffer): Blocks {
  return [Buffer.from(memory, 0, BLOCK_BYTES), Buffer.from(memory, BLOCK_BYTES, BLOCK_BYTES)];
}

/** The types of Node 20 do not have it. */
declare const WebAssembly: {
  readonly Memory: new (pages: { initial: number }) => { readonly buffer: ArrayBuffer };
};
const PAGE_BYTES = 1 << 16;

/** Where address space is limited there may be none of that kind. Other memory serves as well, by way of the cache. */
function reserve(bytes: number): ArrayBuffer {
  try {
    return new WebAssembly.Memory({ initial: bytes / PAGE_BYTES }).buffer;
  } catch {
    return new ArrayBuffer(bytes);
  }
}
