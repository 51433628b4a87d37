// Prints the table of machines once, as wide as the terminal. In a pipe, rows are whole.

import type { RoomLook } from "../../model/room-look.js";
import { abilitiesOf } from "../../report/live/abilities.js";
import { type Canvas, formatSpans, lookOf } from "../../report/live/styled-text.js";
import { roomTable } from "../../report/tables/room-table.js";
import { printable } from "../../report/text/printable.js";

export function printRoom(looks: readonly RoomLook[]): void {
  const { isTTY = false, columns, rows } = process.stdout;
  const look = lookOf(abilitiesOf({ isTTY, columns, rows, env: process.env }));
  const width = isTTY ? columns || 80 : Number.POSITIVE_INFINITY;
  const canvas: Canvas = { columns: width, rows: rows ?? 24, now: Date.now(), look };
  const { lines } = roomTable(looks, "machine", canvas);
  const hints = looks.flatMap((each) =>
    each.kind === "unreachable" && each.hint !== null ? [each.hint] : [],
  );
  const texts = [...lines.map((line) => formatSpans(line, canvas).trimEnd()), ...hints.map(printable)];
  process.stdout.write(texts.map((text) => `${text}\n`).join(""));
}
