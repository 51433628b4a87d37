// Keeps what `ssh -G` prints without any configuration. Asking takes a process each time, and the answer depends on the program
// alone.

import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { boundCache, CACHE_LIMITS } from "../../bound-cache.js";
import { isOwnOrMissing } from "../../cache-dir.js";

export interface DefaultsPlace {
  /** Null: nothing is kept. */
  readonly cacheDir: string | null;
  /** As it would be started: a path, or a name that is looked up on the PATH. */
  readonly program: string;
  readonly now: number;
}

/** A program may start another one, which changes unnoticed. */
const KEPT_MS = 24 * 3600 * 1000;

/** Null: they are not known for this program, as it is now. */
export function recallDefaults(place: DefaultsPlace): string | null {
  const file = fileFor(place);
  if (file === null) return null;
  try {
    const ageMs = place.now - statSync(file).mtimeMs;
    return ageMs >= 0 && ageMs < KEPT_MS ? readFileSync(file, "utf8") : null;
  } catch {
    return null;
  }
}

/** A failure is not reported: the program is only asked again next time. */
export function keepDefaults(place: DefaultsPlace, text: string): void {
  const file = fileFor(place);
  if (file === null) return;
  const dir = join(file, "..");
  const draft = `${file}.${process.pid}`;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
    boundCache(dir, CACHE_LIMITS.ssh, basename(file));
  } catch {
    rmSync(draft, { force: true });
  }
}

/** One for each state of the program. Null: there is no program, or no place that other accounts cannot change. */
function fileFor({ cacheDir, program }: DefaultsPlace): string | null {
  const dir = cacheDir === null ? null : join(cacheDir, "ssh");
  const stamp = dir === null || !isOwnOrMissing(dir) ? null : stampOf(program);
  if (dir === null || stamp === null) return null;
  return join(dir, createHash("sha256").update(stamp).digest("hex").slice(0, 40));
}

function stampOf(program: string): string | null {
  const paths = program.includes("/")
    ? [program]
    : (process.env.PATH ?? "").split(":").map((dir) => join(dir || ".", program));
  for (const path of paths) {
    try {
      accessSync(path, constants.X_OK);
      const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
      return `${path} ${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
    } catch {
      // It is not there.
    }
  }
  return null;
}
