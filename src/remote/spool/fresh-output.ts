// Tells what is new in a piece of output from what is here already. Pure.

/** A machine sends so many bytes once more before what is new, so that output which was replaced is noticed. */
export const OVERLAP_BYTES = 4096;

/**
 * `position`: how far the stream has been taken; `known`: the bytes that end there. Null: the piece does not follow
 * these; the job has emptied its output, and what is there now begins anew.
 */
export function freshOutput(
  piece: { readonly offset: number; readonly bytes: Buffer },
  position: number,
  known: Buffer,
): Buffer | null {
  const overlap = position - piece.offset;
  // A piece is missing before this one.
  if (overlap < 0) return Buffer.alloc(0);
  const again = piece.bytes.subarray(0, overlap);
  const start = known.length - overlap;
  if (start < 0 || !again.equals(known.subarray(start, start + again.length))) return null;
  return piece.bytes.subarray(overlap);
}
