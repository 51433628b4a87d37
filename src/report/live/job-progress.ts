// Reads a job's progress from the last line it printed: `epoch 20/30`, `67%|###### |`.

const PERCENT = /(?<![\d.])(\d{1,3}(?:\.\d+)?)\s?%/;
const STEPS = /(?<![\d./])(\d{1,9})\s?\/\s?(\d{1,9})(?![\d./])/;

/** 0 to 1; null: the line does not show it. */
export function progressIn(line: string): number | null {
  const percent = PERCENT.exec(line)?.[1];
  if (percent !== undefined && Number(percent) <= 100) return Number(percent) / 100;
  const [, done, all] = STEPS.exec(line) ?? [];
  const [step, steps] = [Number(done), Number(all)];
  return steps > 1 && step <= steps ? step / steps : null;
}
