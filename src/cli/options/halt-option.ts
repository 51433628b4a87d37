// `--halt`, as in GNU parallel: its words, and the short forms that it keeps for old scripts.

import { Option } from "commander";
import { UserError } from "../../errors.js";
import type { HaltRule } from "../../model/halt-rule.js";

const SHORT_FORMS: Readonly<Record<string, string>> = {
  "0": "never",
  "1": "soon,fail=1",
  "2": "now,fail=1",
  "-1": "soon,success=1",
  "-2": "now,success=1",
};
const HINT =
  "for example --halt soon,fail=3 or now,fail=10%: soon or now, then fail, success or done, and how many";

export function haltOption(): Option {
  return (
    new Option("--halt <rule>", "end early: soon,fail=3, now,fail=10%, now,success=1, soon,done=5")
      // Not null: commander treats that as an empty word.
      .default("never")
      .argParser((text) => parseHalt(text) ?? "never")
  );
}

/** Null: never. */
export function parseHalt(text: string): HaltRule | null {
  const long = (SHORT_FORMS[text] ?? text).replace(/^(\d+%)$/, "soon,fail=$1");
  if (long === "never") return null;
  const [, when, why, digits, percent] = /^(soon|now),(fail|success|done)=(\d{1,9})(%?)$/.exec(long) ?? [];
  if (when === undefined) throw new UserError(`--halt: unknown rule "${text}"`, { hint: HINT });
  const amount = Number(digits);
  if (amount === 0)
    throw new UserError(`--halt ${text}: 0 would end the batch before it begins`, { hint: HINT });
  if (percent === "%" && amount > 100) throw new UserError(`--halt ${text}: at most 100%`, { hint: HINT });
  return {
    when: when as HaltRule["when"],
    why: why as HaltRule["why"],
    amount,
    unit: percent === "%" ? "percent" : "jobs",
  };
}

/** The client applies the rule, so it must stay. */
export function attendedHalt(rule: HaltRule, detaches: boolean): HaltRule {
  if (!detaches) return rule;
  throw new UserError("--halt cannot be combined with --detach", {
    hint: "leave out --detach, for example: nohup execute_batch … --halt … &",
  });
}
