// The rule by which a run halts by itself, as in GNU parallel's --halt.

export interface HaltRule {
  /** `soon` lets running jobs finish, `now` stops them. */
  readonly when: "soon" | "now";
  readonly why: "fail" | "success" | "done";
  readonly amount: number;
  readonly unit: "jobs" | "percent";
}

/** The rule as it is typed: `soon,fail=10%`. */
export function formatHaltRule({ when, why, amount, unit }: HaltRule): string {
  return `${when},${why}=${amount}${unit === "percent" ? "%" : ""}`;
}
