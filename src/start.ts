// Loads the program and starts it. It caches V8's compiled code for the next start, because compiling takes longer than
// everything else before the first connection.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { cacheDir } from "./cache-dir.js";
import type { Program } from "./cli/options/options.js";
import { CodeFile } from "./code-file.js";
import type { main } from "./main.js";

/** The main.js that the build made beside this file. */
declare const SSHOAL_BUILD: string;

/** V8 drops code that has not run for long, so code from the end of a longer process would lack parts for a start. */
const KEEPS_WITHIN_MS = 60_000;

export function start(program: Program): void {
  const filename = join(__dirname, "main.js");
  const dir = isKeeping() ? cacheDir() : null;
  const kept = dir === null ? null : new CodeFile(join(dir, "code"), SSHOAL_BUILD);
  const known = kept?.load() ?? null;
  const text = readFileSync(filename, "latin1"); // the build writes only ASCII
  const script = new Script(`(function(require,module,__filename,__dirname){${text}\n})`, {
    filename,
    ...(known && { cachedData: known.code }),
  });
  const asked = new Set<string>();
  const ask = (name: string): unknown => {
    asked.add(name);
    return require(name);
  };
  const module: { exports: { main?: typeof main } } = { exports: {} };
  script.runInThisContext()(ask, module, filename, __dirname);
  process.once("exit", (code) => {
    // A command that got further than the one that stored the code has loaded more of Node's modules.
    const isNews = known === null || script.cachedDataRejected || asked.size > known.extent;
    if (kept === null || !isNews || code !== 0 || performance.now() > KEEPS_WITHIN_MS) return;
    kept.save({ code: script.createCachedData(), extent: asked.size });
  });
  void module.exports.main?.(program);
}

/** The same variable disables Node's own cache. */
function isKeeping(): boolean {
  return !process.env.NODE_DISABLE_COMPILE_CACHE;
}
