// Separates the new part of a piece of output from the part that was already fetched. Pure.

/** A machine sends this many bytes again before the new ones, so that replaced output is noticed. */
export const OVERLAP_BYTES = 4096;

/**
 * `position`: how far the stream was fetched; `known`: the bytes that end there. Null if the piece does not continue
 * them: the job emptied its output and started again.
 */
export function freshOutput(
  piece: { readonly offset: number; readonly bytes: Buffer },
  position: number,
  known: Buffer,
): Buffer | null {
  const overlap = position - piece.offset;
  // A piece before this one is missing.
  if (overlap < 0) return Buffer.alloc(0);
  const again = piece.bytes.subarray(0, overlap);
  const start = known.length - overlap;
  if (start < 0 || !again.equals(known.subarray(start, start + again.length))) return null;
  return piece.bytes.subarray(overlap);
}
