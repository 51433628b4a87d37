// The jobs of a round, drawn from a seed, and the expected end of each. Pure.

export interface TrialJob {
  /** Its line in the batch file. */
  readonly line: number;
  readonly deed: Deed;
  readonly ends: number | "timed-out";
}

export interface TrialBatch {
  /** The batch file. */
  readonly text: string;
  readonly jobs: readonly TrialJob[];
}

type Deed = keyof typeof SHARES;

/** How many of a hundred jobs, roughly, do what; see `trial`. Most are very short. */
const SHARES = { nothing: 30, print: 22, make: 20, fail: 12, child: 10, nap: 5, leave: 0.7, late: 0.3 };
const FAIL_CODES = [1, 2, 7, 42, 126, 255];

/** A fork runs plain commands; the others get their own shell. */
const FORMS: readonly ((command: string) => string)[] = [
  (command) => command,
  (command) => command,
  (command) => `. ${command}`,
  (command) => `{ ${command}; }`,
];
/** A job that replaces its shell. */
const EXEC_SHARE = 0.04;
const TIMEOUT = "#@ --timeout 1s";

export function drawJobs(count: number, random: () => number): TrialBatch {
  const lines: string[] = [];
  const jobs = Array.from({ length: count }, () => {
    const deed = drawDeed(random);
    const code = deed === "fail" ? (FAIL_CODES[Math.floor(random() * FAIL_CODES.length)] ?? 1) : 0;
    if (deed === "late") lines.push(TIMEOUT);
    lines.push(drawForm(random)(code === 0 ? `trial ${deed}` : `trial ${deed} ${code}`));
    return { line: lines.length, deed, ends: deed === "late" ? ("timed-out" as const) : code };
  });
  return { text: lines.map((line) => `${line}\n`).join(""), jobs };
}

/** What a job prints and leaves if it ended by itself. */
export function expectedResult(
  deed: Deed,
  key: string,
): { out: string; files: Readonly<Record<string, string>> } {
  return {
    out: deed === "print" ? `out of ${key}\n` : "",
    files: deed === "make" ? { "made.txt": `made by ${key}\n` } : {},
  };
}

function drawDeed(random: () => number): Deed {
  const shares = Object.entries(SHARES) as [Deed, number][];
  let left = random() * shares.reduce((sum, [, share]) => sum + share, 0);
  for (const [deed, share] of shares) {
    left -= share;
    if (left < 0) return deed;
  }
  return "nothing";
}

function drawForm(random: () => number): (command: string) => string {
  if (random() < EXEC_SHARE) return (command) => `exec ${command}`;
  return FORMS[Math.floor(random() * FORMS.length)] ?? ((command) => command);
}
