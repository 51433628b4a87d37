// Makes the name of a job's results from its script's path: one safe file name.

import { createHash } from "node:crypto";
import { posix } from "node:path";

/** Leaves room for ".out", line numbers and temporary endings in the 255 bytes of a file name. */
const MAX_STEM_BYTES = 200;
/** How much of a stem that is too long is kept: even with four bytes each, these and the digest fit. */
const KEPT_CHARACTERS = 40;

/**
 * A job's name without `.` and its line: the script's path, with `_` for `/`. So `./a/b.sh` becomes `a_b.sh`, `/a/b.sh`
 * becomes `_a_b.sh`, and `../b.sh` becomes `__b.sh`. Everything except letters, digits and `._+=@,%-` also becomes `_`.
 * So does a leading dot (hidden), a leading dash (an option) and two dots (a way out).
 */
export function formatJobStem(scriptPath: string): string {
  const stem = posix
    .normalize(scriptPath)
    .replace(/[^\p{L}\p{M}\p{N}._+=@,%-]/gu, "_")
    .replace(/\.{2,}|^[.-]|\.$/g, "_");
  return shorten(stem);
}

/** Leaves room for file endings even with the longest stem. */
const MAX_LABEL_BYTES = 40;

/** What is wrong with a job's label, which follows the stem and a dot in its name; null: nothing. */
export function findLabelMistake(
  label: string,
): { readonly message: string; readonly instead: string } | null {
  const instead = formatJobStem(label).replace(/\.((?:out|err|old-\d+|again-\d+))$/, "_$1");
  if (/^\d+(-\d+)?$/.test(label)) return { message: "a number means a line", instead: `job-${label}` };
  if (instead !== label || label === "")
    return {
      message: "a name has only letters, digits, -, _ and single dots",
      instead: instead || "prepare",
    };
  if (Buffer.byteLength(label) <= MAX_LABEL_BYTES) return null;
  return { message: `it is longer than ${MAX_LABEL_BYTES} bytes`, instead: [...label].slice(0, 10).join("") };
}

function shorten(stem: string): string {
  if (Buffer.byteLength(stem) <= MAX_STEM_BYTES) return stem;
  const digest = createHash("sha256").update(stem).digest("hex").slice(0, 12);
  return `${digest}_${[...stem].slice(-KEPT_CHARACTERS).join("")}`;
}
