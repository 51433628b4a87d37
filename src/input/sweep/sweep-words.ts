// Parses a sweep that is typed: a command, and the words after each -p.

import { problemsError } from "../../errors.js";
import type { Axis, Sweep } from "../../model/sweep.js";
import { type Mistake, toProblems } from "../mistake.js";
import { checkName, checkValue, findUnused, readTemplate } from "./sweep-checks.js";
import { looksLikeDistribution, parseDistribution } from "./sweep-distribution.js";

/** `passed`: names of resources, which stay in the command. The place of a mistake is the number of its -p, from 1; mistakes of the command have 0. */
export function parseSweepWords(
  command: string,
  parameters: readonly (readonly string[])[],
  passed?: ReadonlySet<string>,
): Pick<Sweep, "template" | "axes"> {
  const mistakes: Mistake[] = [];
  const places = new Map<string, number>();
  const axes = parameters.map((words, index) =>
    readParameter(words, { offset: index + 1, places }, mistakes),
  );
  const typed = { text: command, offset: 0 };
  const template = readTemplate(typed, { names: places.keys(), passed }, mistakes);
  mistakes.push(...findUnused(typed, places, new Set()));
  if (parameters.length === 0) {
    mistakes.push({ offset: 0, message: "no parameters are given", hint: "such as -p lr 0.1 0.01" });
  }
  if (mistakes.length === 0 && template !== null) return { template, axes };
  const whereIs = (offset: number) =>
    offset === 0 ? "the command" : `-p ${parameters[offset - 1]?.[0] ?? ""}`.trimEnd();
  throw problemsError(toProblems(mistakes, whereIs));
}

interface Place {
  readonly offset: number;
  /** Filled with the place where each parameter was first named. */
  readonly places: Map<string, number>;
}

/** Its result after a mistake is never used. */
function readParameter(
  [first = "", ...values]: readonly string[],
  { offset, places }: Place,
  mistakes: Mistake[],
): Axis {
  const complain = (found: Omit<Mistake, "offset"> | null) => {
    if (found !== null) mistakes.push({ offset, ...found });
  };
  const [, name = first, distribution] = /^([^=]*)=(.*)$/s.exec(first) ?? [];
  const misnamed =
    first === "" ? { message: "no name is given", hint: "such as -p lr 0.1 0.01" } : checkName(name);
  complain(misnamed);
  if (places.has(name)) complain({ message: `${name} is given twice`, hint: "keep one" });
  else if (misnamed === null) places.set(name, offset);
  if (distribution === undefined) {
    if (misnamed === null) for (const found of findValueMistakes(name, values)) complain(found);
    return { kind: "rows", names: [name], rows: values.map((value) => [value]) };
  }
  if (values.length > 0) {
    complain({
      message: "a parameter that is drawn at random takes no values",
      hint: `-p ${name} ${values.join(" ")}`,
    });
  }
  const parsed = parseDistribution(distribution);
  if ("distribution" in parsed) return { kind: "random", name, ...parsed };
  complain(parsed);
  return { kind: "rows", names: [name], rows: [] };
}

function findValueMistakes(name: string, values: readonly string[]): Omit<Mistake, "offset">[] {
  if (values.length === 0) return [{ message: "no values are given", hint: `such as -p ${name} 1 2 3` }];
  return values.flatMap((value, index) => {
    if (values.indexOf(value) < index) {
      return [{ message: `${JSON.stringify(value)} is given twice`, hint: "keep one" }];
    }
    if (looksLikeDistribution(value)) {
      return [{ message: `${value} is a value here, not drawn at random`, hint: `-p ${name}=${value}` }];
    }
    const found = checkValue(name, value);
    return found === null ? [] : [found];
  });
}
