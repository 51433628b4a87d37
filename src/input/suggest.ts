// Finds the known words that are nearest to a mistyped one, for "did you mean …?".

/** Nearest first; empty if none is near enough. */
export function suggest(word: string, known: Iterable<string>): string[] {
  const typed = word.toLowerCase();
  const limit = Math.max(1, Math.floor(typed.length / 3));
  return [...known]
    .map((candidate) => ({ candidate, distance: editDistance(typed, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= limit || overlaps(typed, candidate.toLowerCase()))
    .sort((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate);
}

/**
 * True if one begins a part of the other: "user" and "username", "key" and "ssh_key_path", but not "host" and
 * "localhost".
 */
function overlaps(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 3 && `_${long}`.replace(/[-.]/g, "_").includes(`_${short.replace(/[-.]/g, "_")}`);
}

/** Levenshtein's distance, but two swapped neighbours count as one mistake, not two. */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(beforePrevious, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforePrevious, previous] = [previous, current];
  }
  return at(previous, b.length);
}

function at(distances: readonly number[], index: number): number {
  return distances[index] ?? Number.POSITIVE_INFINITY;
}
