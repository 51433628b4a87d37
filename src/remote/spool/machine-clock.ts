// Converts times on a machine to the local clock, from the machine's uptime then and now. Never compares the wall
// clocks of two computers.

/** A reading of a machine's clock. */
export interface MachineClock {
  /** The beginning of its boot id, because an uptime is valid only within one boot. */
  readonly boot: string;
  /** When the machine booted, by the local clock. */
  readonly bootedAt: number;
}

/** Parses the answer of `print_clock` in logs.sh, which arrived at `readAt`; null if it is none. */
export function parseClock(line: string, readAt: number): MachineClock | null {
  const [, seconds, boot] = /^clock (\d{1,12}\.\d\d) ([0-9a-f]{8})\S*$/.exec(line) ?? [];
  if (seconds === undefined || boot === undefined) return null;
  return { boot, bootedAt: readAt - Math.round(Number(seconds) * 1000) };
}

/** `hundredths`: hundredths of a second since the machine booted. Null if that was in another boot, or if it is unknown. */
export function timeOnClock(clock: MachineClock | null, hundredths: string, boot: string): number | null {
  if (clock === null || boot !== clock.boot || !/^\d{1,12}$/.test(hundredths)) return null;
  return clock.bootedAt + Number(hundredths) * 10;
}
