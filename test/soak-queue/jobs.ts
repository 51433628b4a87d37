// Jobs of a round, and how each has to end. Each notes its runs in a file of its own.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Planned {
  /** Also the name of its file. */
  readonly label: string;
  readonly command: string;
  /** Before `--`. */
  readonly options: readonly string[];
  /** Null: it is skipped. */
  readonly exitCode: number | null;
  readonly runs: number;
}

/** What `show --json` prints of a job. */
export interface Shown {
  readonly job: string;
  readonly command: string;
  readonly state: string;
  readonly attempt: number;
  readonly outcome: { readonly kind: string; readonly code?: number } | null;
}

/** What came of an earlier job of the round. */
export interface Printed {
  readonly id: string;
  readonly planned: Planned;
}

/** `printed`: jobs that another one can come after; null: for stdin, where a job sets neither this nor retries. */
export function planJob(
  label: string,
  { dir, random, printed }: { dir: string; random: () => number; printed: readonly Printed[] | null },
): Planned {
  const note = `echo x >>${join(dir, label)}`;
  const chance = random();
  if (chance < 0.2 && printed !== null) {
    const command = `${note}; test $(wc -l <${join(dir, label)}) -ge 2`;
    return { label, command, options: ["--retries", "2"], exitCode: 0, runs: 2 };
  }
  const exitCode = random() < 0.3 ? 7 : 0;
  const command = `${note}; sleep ${(random() * 0.3).toFixed(2)}; exit ${exitCode}`;
  const other = printed?.[Math.floor(random() * (printed?.length ?? 0))];
  if (chance > 0.5 || other === undefined) return { label, command, options: [], exitCode, runs: 1 };
  const wantsFailure = random() < 0.4;
  const hasFailed = other.planned.exitCode === 7;
  const runs = other.planned.exitCode !== null && wantsFailure === hasFailed;
  return {
    label,
    command,
    options: [wantsFailure ? "--after-fail" : "--after", other.id],
    exitCode: runs ? exitCode : null,
    runs: runs ? 1 : 0,
  };
}

/** `extraRuns`: how often it may have run because of `retry`. `shown` has all jobs of the queue. */
export function auditJob(planned: Planned, { dir, shown, isPrinted, extraRuns }: Audit): string[] {
  const { label, command, exitCode } = planned;
  const file = join(dir, label);
  const ran = existsSync(file) ? readFileSync(file, "utf8").length / 2 : 0;
  const rows = shown.filter((each) => each.command === command);
  const [row] = rows;
  if (row === undefined) {
    if (isPrinted) return [`${label} is lost, and its name was printed`];
    return ran === 0 ? [] : [`${label} ran, and is not in the record`];
  }
  const wrong: string[] = [];
  if (rows.length > 1) wrong.push(`${label} was added ${rows.length} times`);
  const state = exitCode === null ? "skipped" : exitCode === 0 ? "succeeded" : "failed";
  if (row.state !== state) wrong.push(`${row.job} ${label} is ${row.state} instead of ${state}`);
  if (exitCode !== null && row.outcome?.code !== exitCode)
    wrong.push(`${row.job} ${label} has the outcome ${JSON.stringify(row.outcome)} instead of ${exitCode}`);
  if (ran !== row.attempt)
    wrong.push(`${row.job} ${label} ran ${ran} times, and has ${row.attempt} attempts`);
  if (ran < planned.runs || ran > planned.runs + extraRuns)
    wrong.push(`${row.job} ${label} ran ${ran} times instead of ${planned.runs}`);
  return wrong;
}

interface Audit {
  readonly dir: string;
  readonly shown: readonly Shown[];
  readonly isPrinted: boolean;
  readonly extraRuns: number;
}
