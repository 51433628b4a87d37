// The source of lines while a batch runs: stdin, or a growing file.

import type { Readable } from "node:stream";
import type { FeedPosition } from "../../model/batch.js";
import { type Line, LineCutter } from "./line-cutter.js";

export interface LineChunk {
  readonly lines: readonly Line[];
  /** The position after a line of this chunk; null: no client can resume from there. */
  positionAfter(index: number): Promise<FeedPosition | null>;
}

export type LineSource = AsyncIterable<LineChunk>;

export async function* linesOf(stream: Readable): LineSource {
  const cutter = new LineCutter();
  const positionAfter = async () => null;
  for await (const bytes of stream) yield { lines: cutter.cut(bytes as Buffer), positionAfter };
  yield { lines: cutter.end(), positionAfter };
}
