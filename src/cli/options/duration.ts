// `90s`, `10m`, `1h30m`, `2d`: parses durations. A bare number is refused, because its unit is unclear.

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Whole seconds; null if it is no duration, or zero. */
export function parseDuration(text: string): number | null {
  if (!/^(\d+(\.\d+)?[smhd])+$/.test(text)) return null;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)([smhd])/g)) {
    seconds += Number(amount) * SECONDS[unit as keyof typeof SECONDS];
  }
  return seconds > 0 && seconds < 1e9 ? Math.ceil(seconds) : null;
}
