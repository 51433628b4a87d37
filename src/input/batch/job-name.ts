// What a job's results are filed under: its script's path, made into one safe file name.

import { createHash } from "node:crypto";
import { posix } from "node:path";

/** Leaves room for ".out", line numbers and temporary endings in the 255 bytes a file name may have. */
const MAX_STEM_BYTES = 200;
/** Of a stem that is too long: even at four bytes each, these and the digest fit. */
const KEPT_CHARACTERS = 40;

/**
 * A job's name without `.` and its line: the script's path, with `/` as `_`. So `./a/b.sh` is `a_b.sh`,
 * `/a/b.sh` is `_a_b.sh` and `../b.sh` is `__b.sh`. All but letters, digits and `._+=@,%-` becomes `_` too, and so
 * does what would make the name hidden (a dot in front), an option (a dash in front) or a way out (two dots).
 */
export function formatJobStem(scriptPath: string): string {
  const stem = posix
    .normalize(scriptPath)
    .replace(/[^\p{L}\p{M}\p{N}._+=@,%-]/gu, "_")
    .replace(/\.{2,}|^[.-]|\.$/g, "_");
  return shorten(stem);
}

function shorten(stem: string): string {
  if (Buffer.byteLength(stem) <= MAX_STEM_BYTES) return stem;
  const digest = createHash("sha256").update(stem).digest("hex").slice(0, 12);
  return `${digest}_${[...stem].slice(-KEPT_CHARACTERS).join("")}`;
}
