// Separates the bytes of a control channel into lines of answers and output, which is announced by its length.

import { LONGEST_LINE_BYTES, lineTooLong } from "../engine/line-limit.js";

export type ControlItem = { readonly kind: "line"; readonly text: string } | OutputPiece;

export interface OutputPiece {
  readonly kind: "output";
  readonly key: string;
  readonly stream: "out" | "err";
  readonly offset: number;
  readonly bytes: Buffer;
}

type Announced = Omit<OutputPiece, "bytes" | "kind"> & { readonly left: number };

/**
 * Long output arrives in several pieces, and each is passed on as it arrives. Throws RemoteError for a line that is too
 * long.
 */
export async function* readControl(chunks: AsyncIterable<Buffer>): AsyncGenerator<ControlItem> {
  let rest: Buffer = Buffer.alloc(0);
  let announced: Announced | null = null;
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length > 0) {
      if (announced !== null) {
        const { left, ...position }: Announced = announced;
        const bytes: Buffer = rest.subarray(0, left);
        yield { kind: "output", ...position, bytes };
        rest = rest.subarray(bytes.length);
        announced =
          left === bytes.length
            ? null
            : { ...position, offset: position.offset + bytes.length, left: left - bytes.length };
        continue;
      }
      const end = rest.indexOf(10);
      if (end < 0 && rest.length > LONGEST_LINE_BYTES) throw lineTooLong("its control channel");
      if (end < 0) break;
      const text = rest.subarray(0, end).toString("utf8");
      rest = rest.subarray(end + 1);
      announced = parseAnnouncement(text);
      if (announced === null) yield { kind: "line", text };
    }
  }
}

function parseAnnouncement(line: string): Announced | null {
  const match = /^data (\S+) (out|err) (\d{1,15}) ([1-9]\d{0,14})$/.exec(line);
  if (!match) return null;
  const [, key = "", stream, offset, left] = match;
  return { key, stream: stream === "out" ? "out" : "err", offset: Number(offset), left: Number(left) };
}
