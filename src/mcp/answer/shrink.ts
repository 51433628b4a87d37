// Cuts long texts and lists in a JSON value, until it has at most so many bytes. What was cut says so.

/** How long texts and lists may be, from one try to the next. */
const STEPS = [
  { text: 2000, items: 100 },
  { text: 1000, items: 30 },
  { text: 400, items: 10 },
  { text: 120, items: 3 },
  { text: 40, items: 1 },
] as const;

export function shrink<T extends object>(value: T, mostBytes: number): T {
  if (bytesOf(value) <= mostBytes) return value;
  for (const { text, items } of STEPS) {
    const cut = cutValue(value, text, items) as T;
    if (bytesOf(cut) <= mostBytes) return cut;
  }
  // Deeper than any object of ours: its fields are too many.
  return { cut: `${JSON.stringify(value).slice(0, Math.floor(mostBytes / 8))}…` } as unknown as T;
}

function cutValue(value: unknown, text: number, items: number): unknown {
  if (typeof value === "string") return cutText(value, text);
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map((item) => cutValue(item, text, items));
    return value.length > items ? [...kept, `… ${value.length - items} more`] : kept;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutValue(each, text, items)]));
}

/** Its beginning and its end: the end of a progress bar, or of an error, has the news. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.floor(most / 3);
  const tail = most - head;
  return `${text.slice(0, head)} … ${text.length - head - tail} characters … ${text.slice(-tail)}`;
}

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
