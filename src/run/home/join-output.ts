// Joins output from an archive with the part that an earlier client fetched. If the job emptied its output since, the
// archive has less than the local file, and both are kept.

import { appendFileSync, copyFileSync, renameSync, statSync } from "node:fs";
import { freshOutput, OVERLAP_BYTES } from "../../remote/spool/fresh-output.js";
import { readPart } from "./read-part.js";

const BLOCK_BYTES = 1 << 20;

/**
 * Makes `arrived` hold the text of `here` and the new text. `kept`: the length of the part of `here` that the machine's
 * file no longer had.
 */
export function joinOutput(here: string, arrived: string, kept: number): void {
  const [size, arrivedSize] = [statSync(here).size, statSync(arrived).size];
  const position = size - kept;
  const overlap = Math.min(position, OVERLAP_BYTES);
  const piece = { offset: position - overlap, bytes: readPart(arrived, position - overlap, overlap) };
  const isWhole = piece.bytes.length === overlap;
  const follows = isWhole && freshOutput(piece, position, readPart(here, size - overlap, overlap)) !== null;
  if (follows && kept === 0) return;
  // After a crash the same archive can arrive again when its output is already in place.
  const isIn = arrivedSize <= size && endOf(arrived, arrivedSize).equals(endOf(here, size, arrivedSize));
  const fresh = follows ? position : isIn ? arrivedSize : 0;
  const joined = `${arrived}.joined`;
  copyFileSync(here, joined);
  for (let from = fresh; ; from += BLOCK_BYTES) {
    const block = readPart(arrived, from, BLOCK_BYTES);
    if (block.length === 0) break;
    appendFileSync(joined, block, { flush: true });
  }
  renameSync(joined, arrived);
}

function endOf(file: string, size: number, most = OVERLAP_BYTES): Buffer {
  const length = Math.min(size, most, OVERLAP_BYTES);
  return readPart(file, size - length, length);
}
