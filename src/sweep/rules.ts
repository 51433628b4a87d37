// Decides whether the rules of a sweep allow a combination.

import { UserError } from "../errors.js";
import {
  type Combination,
  type Condition,
  isNumber,
  type Operand,
  type Rule,
  type Sweep,
} from "../model/sweep.js";

export function isWanted(
  { when, reject }: Pick<Sweep, "when" | "reject">,
  combination: Combination,
): boolean {
  return (
    when.every((rule) => holds(rule.condition, combination, rule)) &&
    !reject.some((rule) => holds(rule.condition, combination, rule))
  );
}

function holds(condition: Condition, combination: Combination, rule: Rule): boolean {
  switch (condition.kind) {
    case "and":
      return condition.parts.every((part) => holds(part, combination, rule));
    case "or":
      return condition.parts.some((part) => holds(part, combination, rule));
    case "not":
      return !holds(condition.part, combination, rule);
    case "compare":
      return compares(condition, combination, rule);
    default:
      return condition satisfies never;
  }
}

type Comparison = Extract<Condition, { kind: "compare" }>;

function compares({ operator, left, right }: Comparison, combination: Combination, rule: Rule): boolean {
  const [a, b] = [textOf(left, combination), textOf(right, combination)];
  const isQuoted = left.kind === "text" || right.kind === "text";
  const areNumbers = !isQuoted && isNumber(a) && isNumber(b);
  const difference = areNumbers ? Number(a) - Number(b) : compareTexts(a, b);
  if (operator === "==") return difference === 0;
  if (operator === "!=") return difference !== 0;
  if (!isQuoted && isNumber(a) !== isNumber(b)) throw incomparable(a, b, operator, rule);
  if (operator === "<") return difference < 0;
  if (operator === "<=") return difference <= 0;
  return operator === ">" ? difference > 0 : difference >= 0;
}

/** The names in rules were checked when they were parsed. */
function textOf(operand: Operand, combination: Combination): string {
  return operand.kind === "name" ? (combination.get(operand.name) ?? "") : operand.text;
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function incomparable(a: string, b: string, operator: string, rule: Rule): UserError {
  const [number, text] = isNumber(a) ? [a, b] : [b, a];
  return new UserError(
    `${rule.where}: "${rule.text}" asks whether ${a} ${operator} ${b}, but ${number} is a number and ${text} is not`,
    { hint: `compare ${text} by == or !=, or put what it is compared with in quotes` },
  );
}
