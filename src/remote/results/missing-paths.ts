// Chooses which paths of incomplete results are recorded and requested again. Pure.

/** The limits, because all paths are requested in one command line. */
const MOST = 100;
const MOST_BYTES = 2000;

/**
 * Names at most `MOST` paths, relative to a job's results. A directory ends in "/" and includes everything in it; "./"
 * means all results. If a file's name cannot be passed back exactly, its directory replaces it.
 */
export function nameMissing(paths: readonly string[]): string[] {
  let named = outermost(paths.map(nameable));
  for (let depth = deepest(named); named.length > MOST && depth > 1; depth--)
    named = outermost(named.map((each) => cutBelow(each, depth - 1)));
  return named.length > MOST ? ["./"] : named.toSorted();
}

/** A newline would end the word, bytes that are not UTF-8 were replaced, and a shell cannot use a path that is too long. */
function nameable(path: string): string {
  const parts = path.split("/");
  let bytes = 0;
  const odd = parts.findIndex((part) => {
    bytes += Buffer.byteLength(part) + 1;
    return bytes > MOST_BYTES || /[\n\uFFFD]/.test(part);
  });
  return odd < 0 ? path : directory(parts.slice(0, odd));
}

function deepest(paths: readonly string[]): number {
  return Math.max(0, ...paths.map((path) => partsOf(path).length));
}

function cutBelow(path: string, depth: number): string {
  const parts = partsOf(path);
  return parts.length <= depth ? path : directory(parts.slice(0, depth));
}

function partsOf(path: string): string[] {
  return path.replace(/\/$/, "").split("/");
}

function directory(parts: readonly string[]): string {
  return parts.length === 0 ? "./" : `${parts.join("/")}/`;
}

/** Removes paths inside a directory that is also in the list. */
function outermost(paths: readonly string[]): string[] {
  const unique = new Set(paths);
  if (unique.has("./")) return ["./"];
  const isCovered = (path: string) => {
    const parts = partsOf(path);
    if (unique.has(`${path}/`)) return true;
    return parts.some((_, index) => index > 0 && unique.has(directory(parts.slice(0, index))));
  };
  return [...unique].filter((path) => !isCovered(path));
}
