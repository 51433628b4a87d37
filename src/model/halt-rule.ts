// When a run is to halt of itself, as GNU parallel's --halt has it.

export interface HaltRule {
  /** `soon` lets running jobs finish, `now` stops them. */
  readonly when: "soon" | "now";
  readonly why: "fail" | "success" | "done";
  readonly amount: number;
  readonly unit: "jobs" | "percent";
}

/** As it is typed: `soon,fail=10%`. */
export function formatHaltRule({ when, why, amount, unit }: HaltRule): string {
  return `${when},${why}=${amount}${unit === "percent" ? "%" : ""}`;
}
