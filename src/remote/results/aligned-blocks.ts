// Two blocks of memory: one is filled while the other is written. They begin at a page boundary, as direct writes to a
// disk require.

/** Large enough that direct writes, with a thread for each, are worth their cost. */
export const BLOCK_BYTES = 2 << 20;

export type Blocks = readonly [Buffer, Buffer];

const idle: Blocks[] = [];

/** The caller returns them once nothing is being written from them. */
export function takeBlocks(): Blocks {
  return idle.pop() ?? cut(reserve(2 * BLOCK_BYTES));
}

export function putBack(blocks: Blocks): void {
  idle.push(blocks);
}

function cut(memory: ArrayBuffer): Blocks {
  return [Buffer.from(memory, 0, BLOCK_BYTES), Buffer.from(memory, BLOCK_BYTES, BLOCK_BYTES)];
}

/** The types of Node 20 lack it. */
declare const WebAssembly: {
  readonly Memory: new (pages: { initial: number }) => { readonly buffer: ArrayBuffer };
};
const PAGE_BYTES = 1 << 16;

/** If address space is limited, this memory may not be available. Other memory also works, through the system's cache. */
function reserve(bytes: number): ArrayBuffer {
  try {
    return new WebAssembly.Memory({ initial: bytes / PAGE_BYTES }).buffer;
  } catch {
    return new ArrayBuffer(bytes);
  }
}
