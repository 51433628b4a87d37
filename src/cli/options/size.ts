// `10GB`, `512M`, `1.5TiB`: parses amounts of bytes.

const POWERS = { "": 0, k: 1, m: 2, g: 3, t: 4 } as const;

/** Bytes; null: it is no size with a unit. `base`: the factor of kB, MB and GB; KiB, MiB and GiB always count in 1024. */
export function parseSize(text: string, base: 1000 | 1024): number | null {
  const [, amount, letter = "", isBinary] = /^(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?)b?|b)$/i.exec(text) ?? [];
  if (amount === undefined) return null;
  const bytes =
    Number(amount) * (isBinary ? 1024 : base) ** POWERS[letter.toLowerCase() as keyof typeof POWERS];
  return bytes < 1e18 ? bytes : null;
}
