// Parses what jobs wrote into a machine's own ledger: `start KEY UPTIME`, `done KEY UPTIME`. Pure.

export interface LedgerEntry {
  readonly machine: string;
  readonly what: "start" | "done";
  readonly line: number;
  readonly attempt: number;
  /** Seconds since the computer's boot. */
  readonly at: number;
}

/** Throws on a line that no job can have written. */
export function parseLedger(machine: string, text: string): LedgerEntry[] {
  return text.split("\n").flatMap((line) => {
    if (line === "") return [];
    const [, what, number, attempt, at] = /^(start|done) \d{13}-(\d+)-(\d+) (\d+\.\d+)$/.exec(line) ?? [];
    if (what !== "start" && what !== "done")
      throw new Error(`${machine} has ${JSON.stringify(line)} in its ledger`);
    return [{ machine, what, line: Number(number), attempt: Number(attempt), at: Number(at) }];
  });
}

/** How many jobs have begun. */
export function countStarts(text: string): number {
  return text.split("start ").length - 1;
}
