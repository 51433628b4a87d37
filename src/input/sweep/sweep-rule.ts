// Parses a rule such as `pool0 == pool1 and not bs > 64` into a condition. The language has comparisons of names,
// numbers and quoted texts, joined by and, or, not and parentheses. Nothing in a rule is ever run.

import type { Condition, Operand, Operator } from "../../model/sweep.js";
import { RuleMistake, type RuleToken, readRuleTokens } from "./rule-tokens.js";

export type ParsedRule =
  | { readonly condition: Condition; readonly names: ReadonlySet<string> }
  | { readonly message: string; readonly hint?: string };

/** More than people write, less than the stack allows. */
const DEEPEST = 50;

export function parseRule(text: string): ParsedRule {
  try {
    const reader = new RuleReader(readRuleTokens(text));
    return { condition: reader.readRule(), names: reader.names };
  } catch (error) {
    if (!(error instanceof RuleMistake)) throw error;
    return { message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  }
}

/** From lowest to highest precedence: or, and, not, comparison. */
class RuleReader {
  readonly names = new Set<string>();
  readonly #tokens: readonly RuleToken[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly RuleToken[]) {
    this.#tokens = tokens;
  }

  readRule(): Condition {
    if (this.#tokens.length === 0) throw new RuleMistake("the rule is empty", "such as pool0 == pool1");
    const condition = this.#readJoined("or");
    const next = this.#next();
    if (next === undefined) return condition;
    if (next.kind !== "operator") throw new RuleMistake(`expected "and" or "or" before ${next.text}`);
    throw new RuleMistake("compare two at a time", "a < b and b < c");
  }

  #readJoined(kind: "or" | "and"): Condition {
    const readPart = () => (kind === "or" ? this.#readJoined("and") : this.#readNot());
    const first = readPart();
    const parts = [first];
    while (this.#takes(kind)) parts.push(readPart());
    return parts.length === 1 ? first : { kind, parts };
  }

  #readNot(): Condition {
    if (this.#takes("not")) return { kind: "not", part: this.#deeper(() => this.#readNot()) };
    if (!this.#takes("(")) return this.#readComparison();
    const inner = this.#deeper(() => this.#readJoined("or"));
    if (!this.#takes(")")) throw this.#unexpected('")"');
    return inner;
  }

  #readComparison(): Condition {
    const left = this.#readOperand();
    const token = this.#next();
    if (token?.kind !== "operator") throw this.#unexpected("a comparison", this.#hintFor(left));
    this.#at += 1;
    return { kind: "compare", operator: token.text as Operator, left, right: this.#readOperand() };
  }

  #readOperand(): Operand {
    const token = this.#next();
    const isWord = token?.kind === "name" && ["and", "or", "not"].includes(token.text);
    if (token === undefined || isWord || token.kind === "operator" || token.kind === "sign") {
      throw this.#unexpected("a name, a number or a text in quotes");
    }
    this.#at += 1;
    if (token.kind === "quoted") return { kind: "text", text: token.value };
    if (token.kind === "number") return { kind: "number", text: token.text };
    this.names.add(token.text);
    return { kind: "name", name: token.text };
  }

  #hintFor(operand: Operand): string {
    return operand.kind === "name" ? `such as ${operand.name} == 'true'` : "such as pool0 == pool1";
  }

  #deeper<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw new RuleMistake("nested too deeply");
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #takes(word: string): boolean {
    const token = this.#next();
    if (token?.text !== word || token.kind === "quoted") return false;
    this.#at += 1;
    return true;
  }

  #next(): RuleToken | undefined {
    return this.#tokens[this.#at];
  }

  #unexpected(wanted: string, hint?: string): RuleMistake {
    const token = this.#next();
    const place = token === undefined ? "at the end" : `before ${token.text}`;
    return new RuleMistake(`expected ${wanted} ${place}`, hint);
  }
}
