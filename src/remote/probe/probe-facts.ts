// The probe's raw lines by their first word, and numbers from them. They come from a machine, so each number is checked
// and bounded, and each text is made safe to print.

export type Facts = ReadonlyMap<string, readonly string[]>;

export function gatherFacts(lines: readonly string[]): Facts {
  const facts = new Map<string, string[]>();
  for (const line of lines) {
    const [key = ""] = line.split(" ", 1);
    const values = facts.get(key) ?? [];
    values.push(line.slice(key.length + 1));
    facts.set(key, values);
  }
  return facts;
}

export function factsOf(facts: Facts, key: string): readonly string[] {
  return facts.get(key) ?? [];
}

/** A number without sign or exponent, up to `max`; null for anything else: `[N/A]`, `-`, `max`, an empty text. */
export function parseNumber(text: string | undefined, max = Number.MAX_SAFE_INTEGER): number | null {
  if (text === undefined || !/^\d{1,20}(\.\d{1,9})?$/.test(text)) return null;
  const number = Number(text);
  return number <= max ? number : null;
}

/** Of a whole card. Jetson boards leave out `GPU-`, and have nothing but the 36 characters. */
export const CARD_UUID = String.raw`(?:GPU-[\w-]{1,64}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})`;

const LONGEST_TEXT = 200;

/** One short line without control characters. */
export function cleanText(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim();
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line;
}
