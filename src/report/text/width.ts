// Measures how many terminal columns a text takes, and cuts it to fit. The text must have no control characters.

const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

/** Longer text, in UTF-16 units per column, counts as too wide, because splitting it into graphemes takes time. */
const UNITS_PER_COLUMN = 16;

export function textWidth(text: string): number {
  if (isAscii(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += graphemeWidth(segment);
  return width;
}

/** Keeps the beginning. */
export function fitWidth(text: string, columns: number, ellipsis = "…"): string {
  if (text.length <= columns && isAscii(text)) return text;
  const start = text.slice(0, (columns + 1) * UNITS_PER_COLUMN);
  const room = columns - textWidth(ellipsis);
  let width = 0;
  let cutAt = 0;
  for (const { segment, index } of graphemesOf(start)) {
    width += graphemeWidth(segment);
    if (width <= room) cutAt = index + segment.length;
    if (width > columns) break;
  }
  if (width <= columns && start === text) return text;
  return room < 0 ? "" : text.slice(0, cutAt) + ellipsis;
}

/** Keeps the end, because the names of a batch's jobs differ in their last letters. */
export function fitWidthKeepingEnd(text: string, columns: number, ellipsis = "…"): string {
  const end = text.slice(-(columns + 1) * UNITS_PER_COLUMN);
  if (end === text && textWidth(text) <= columns) return text;
  const segments = [...graphemesOf(end)];
  let room = columns - textWidth(ellipsis);
  let cutAt = end.length;
  for (const { segment, index } of segments.reverse()) {
    room -= graphemeWidth(segment);
    if (room < 0) break;
    cutAt = index;
  }
  return fitWidth(ellipsis + end.slice(cutAt), columns, "");
}

export function padWidth(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - textWidth(text)));
}

let segmenter: Intl.Segmenter | undefined;

/** Created only when needed, because it takes longer than most of a command's start. */
function graphemesOf(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (/^[\p{Mark}\p{Cf}]/u.test(grapheme)) return 0;
  if (/\p{Emoji_Presentation}|\ufe0f/u.test(grapheme)) return 2;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}
