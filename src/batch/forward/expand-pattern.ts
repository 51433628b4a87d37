// Expands `*`, `?` and `[…]` in paths as a shell does, because no shell reads the lines of a batch file.

import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

/** `pattern` is relative to `dir` and inside it. Sorted; empty: nothing matches. */
export function expandPattern(pattern: string, dir: string): string[] {
  let found = [""];
  for (const part of pattern.split("/"))
    found = found.flatMap((above) =>
      namesIn(path.join(dir, above), part).map((name) => path.join(above, name)),
    );
  return found;
}

export function isPattern(text: string): boolean {
  return /[*?[]/.test(text);
}

function namesIn(dir: string, part: string): string[] {
  if (!isPattern(part)) return existsSync(path.join(dir, part)) ? [part] : [];
  const shape = shapeOf(part);
  const mayBeHidden = part.startsWith(".");
  return listOrNothing(dir)
    .filter((name) => (mayBeHidden || !name.startsWith(".")) && shape.test(name))
    .sort();
}

function shapeOf(part: string): RegExp {
  const text = part.replace(/\[!?[^\]]+\]|[^\w]/gsu, (piece) => {
    if (piece === "*") return ".*";
    if (piece === "?") return ".";
    if (piece.length > 1 && piece.startsWith("["))
      return piece.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
    return `\\u{${(piece.codePointAt(0) ?? 0).toString(16)}}`;
  });
  return new RegExp(`^${text}$`, "su");
}

function listOrNothing(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
