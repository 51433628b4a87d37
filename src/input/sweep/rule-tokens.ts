// Splits a rule into tokens: names, numbers, quoted texts, comparisons, parentheses.

export type RuleToken = { readonly text: string } & (
  | { readonly kind: "name" | "number" | "operator" | "sign" }
  /** `value` has no quotes. */
  | { readonly kind: "quoted"; readonly value: string }
);

/** A rule has at most one mistake: the place where parsing stopped. parseRule turns it into a value. */
export class RuleMistake extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

const TOKEN =
  /\s*(?:(?<quoted>"[^"]*"|'[^']*')|(?<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?![\w.]))|(?<name>[A-Za-z_]\w*(?:[.-]\w+)*)|(?<operator>[=!<>]=|[<>])|(?<sign>[()]))/iy;

/** Operators of other languages, with the word to use instead. */
const ELSEWHERE = new Map([
  ["&&", "and"],
  ["&", "and"],
  ["||", "or"],
  ["|", "or"],
  ["!", "not"],
  ["=", "=="],
]);

export function readRuleTokens(text: string): RuleToken[] {
  const tokens: RuleToken[] = [];
  const end = text.trimEnd().length;
  for (let at = 0; at < end; ) {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(text)?.groups;
    if (groups === undefined) throw unreadable(text.slice(at).trimStart());
    tokens.push(toToken(groups));
    at = TOKEN.lastIndex;
  }
  return tokens;
}

function toToken(groups: Readonly<Record<string, string | undefined>>): RuleToken {
  const { quoted, number, name, operator, sign = "" } = groups;
  if (quoted !== undefined) return { kind: "quoted", text: quoted, value: quoted.slice(1, -1) };
  if (number !== undefined) return { kind: "number", text: number };
  if (name !== undefined) return { kind: "name", text: name };
  if (operator !== undefined) return { kind: "operator", text: operator };
  return { kind: "sign", text: sign };
}

function unreadable(rest: string): RuleMistake {
  if (/^["']/.test(rest)) return new RuleMistake(`the text that begins with ${rest[0]} does not end`);
  const [sign = ""] = /^(&&|\|\||\d\S*|.)/su.exec(rest) ?? [];
  const meant = ELSEWHERE.get(sign);
  const message = `${JSON.stringify(sign)} is not allowed in a rule`;
  return meant === undefined
    ? new RuleMistake(message, "write comparisons, joined by and, or, not")
    : new RuleMistake(`${message}, did you mean "${meant}"?`);
}
