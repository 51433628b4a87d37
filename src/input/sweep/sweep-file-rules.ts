// Reads the rules of a sweep file, `when:` and `reject:`: one rule, or a list of rules.

import type { Rule } from "../../model/sweep.js";
import type { Mistake } from "../mistake.js";
import { suggest } from "../suggest.js";
import { type Field, readText } from "../yaml/yaml-fields.js";
import { parseRule } from "./sweep-rule.js";

interface RuleContext {
  /** The names that rules may use. */
  readonly names: ReadonlySet<string>;
  readonly whereIs: (offset: number) => string;
}

/** With the names that it uses. */
type NamedRule = Rule & { readonly names: ReadonlySet<string> };

export function readRules(field: Field | undefined, context: RuleContext, mistakes: Mistake[]): NamedRule[] {
  if (field === undefined) return [];
  const { label, value } = field;
  const rules =
    value.kind === "list" ? value.items.map((item) => ({ label: `each of ${label}`, value: item })) : [field];
  return rules.flatMap((rule) => readRule(rule, context, mistakes));
}

function readRule(field: Field, { names, whereIs }: RuleContext, mistakes: Mistake[]): NamedRule[] {
  const text = readText(field, mistakes);
  if (text === null) return [];
  const { offset } = field.value;
  const parsed = parseRule(text);
  if ("message" in parsed) {
    mistakes.push({ offset, ...parsed });
    return [];
  }
  for (const name of parsed.names) {
    if (!names.has(name)) mistakes.push({ offset, ...unknownName(name, names) });
  }
  return [{ text, where: whereIs(offset), ...parsed }];
}

function unknownName(name: string, names: ReadonlySet<string>): Omit<Mistake, "offset"> {
  const [nearest] = suggest(name, names);
  const meant = nearest === undefined ? "" : `, did you mean "${nearest}"?`;
  return { message: `${name} is no parameter${meant}`, hint: `a text goes in quotes: '${name}'` };
}
