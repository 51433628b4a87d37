// When something happened on a machine, by this computer's clock: from the machine's uptime then and now. The wall clocks of two
// computers are never compared.

/** A machine's clock as it was read. */
export interface MachineClock {
  /** The beginning of its boot id: an uptime counts within one boot only. */
  readonly boot: string;
  /** When it was started, by this computer's clock. */
  readonly bootedAt: number;
}

/** The answer of `print_clock` in logs.sh, which came at `readAt`; null: it is none. */
export function parseClock(line: string, readAt: number): MachineClock | null {
  const [, seconds, boot] = /^clock (\d{1,12}\.\d\d) ([0-9a-f]{8})\S*$/.exec(line) ?? [];
  if (seconds === undefined || boot === undefined) return null;
  return { boot, bootedAt: readAt - Math.round(Number(seconds) * 1000) };
}

/** `hundredths`: of a second since the machine was started. Null: that was in another boot, or it is not known. */
export function timeOnClock(clock: MachineClock | null, hundredths: string, boot: string): number | null {
  if (clock === null || boot !== clock.boot || !/^\d{1,12}$/.test(hundredths)) return null;
  return clock.bootedAt + Number(hundredths) * 10;
}
