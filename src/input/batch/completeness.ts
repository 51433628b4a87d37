// Decides whether the lines so far are a whole command. It remembers what bash waits for, and does not ask about lines
// that cannot complete the command: a here-document of a thousand lines costs two questions.

import type { AskBash } from "./ask-bash.js";
import type { BashVerdict } from "./bash-verdict.js";
import { isPlainCommand } from "./plain-command.js";

export type Waiting =
  /** After a backslash: any line. */
  | { readonly kind: "line" }
  /** A quote or bracket. */
  | { readonly kind: "closer"; readonly closer: string }
  /** The last line of a here-document: one of these, or unknown. */
  | { readonly kind: "heredoc"; readonly ends: readonly string[] }
  /** bash did not name it. `isCompound`: it waits for a word or bracket that closes something, not for any command. */
  | { readonly kind: "end"; readonly isCompound: boolean };

export type Look =
  | { readonly kind: "open" }
  | { readonly kind: "whole" }
  /** This many lines at the start contain a mistake that no further line can fix. */
  | { readonly kind: "refused"; readonly lines: number; readonly says: string }
  /** Unknown, and bash is not asked any more. */
  | { readonly kind: "given-up"; readonly why: "open" | "no-bash"; readonly says: string };

const OPEN: Look = { kind: "open" };
const NO_BASH = "only bash can decide whether this is a whole command, and there is no bash on this computer";
/** Each of these ends a command of several lines. */
const CLOSERS = /done|fi|esac|[})]|\]\]/;

export class Completeness {
  readonly #ask: AskBash;
  #patience: number;
  waiting: Waiting = { kind: "line" };
  /** Lines joined by backslashes while a quick look is enough; null after that. */
  #joined: string | null = "";
  /** How many lines bash has already seen without a mistake. */
  #asked = 0;
  /** The last line, with the lines before that a backslash joins to it. */
  #tail = "";
  #says = "";

  constructor(ask: AskBash, patience: number) {
    this.#ask = ask;
    this.#patience = patience;
  }

  /** Call it after each line, with all lines. */
  async look(lines: readonly string[]): Promise<Look> {
    const line = lines.at(-1) ?? "";
    this.#tail = this.#tail.endsWith("\\") ? this.#tail.slice(0, -1) + line : line;
    const quick = this.#quickLook(line);
    if (quick !== null) return quick;
    return lines.length === 1 || this.#mayEnd(line) ? this.#askAbout(lines) : OPEN;
  }

  /** Why the lines are no whole command, in bash's words. */
  async lastWords(lines: readonly string[]): Promise<string> {
    const verdict = await this.#ask(lines.join("\n"));
    if (verdict.kind === "unasked") return NO_BASH;
    if (verdict.kind !== "taken") return verdict.says;
    if (this.waiting.kind !== "heredoc") return "there is no line after the backslash";
    return `here-document delimited by end-of-file (wanted \`${this.waiting.ends[0] ?? ""}')`;
  }

  /** Null: bash must be asked. */
  #quickLook(line: string): Look | null {
    if (this.#joined === null) return null;
    const joined = this.#joined + line;
    if (!endsWithBackslash(line)) {
      this.#joined = null;
      return isPlainCommand(joined) ? { kind: "whole" } : null;
    }
    const before = joined.slice(0, -1);
    // In a comment, a backslash has no meaning.
    const isPlain = !before.includes("#") && (before.trim() === "" || isPlainCommand(before));
    this.#joined = isPlain ? before : null;
    return isPlain ? OPEN : null;
  }

  #mayEnd(line: string): boolean {
    const brings = (text: string) => line.includes(text) || this.#tail.includes(text);
    switch (this.waiting.kind) {
      case "line":
        return true;
      case "closer":
        return brings(this.waiting.closer);
      case "heredoc":
        return this.waiting.ends.length === 0 || this.waiting.ends.some((end) => brings(firstLine(end)));
      case "end":
        return !this.waiting.isCompound || CLOSERS.test(line) || CLOSERS.test(this.#tail);
      default:
        return this.waiting satisfies never;
    }
  }

  async #askAbout(lines: readonly string[]): Promise<Look> {
    const text = lines.join("\n");
    this.#patience -= 1;
    if (this.#patience < 0) return { kind: "given-up", why: "open", says: this.#says };
    const verdict = await this.#ask(text);
    switch (verdict.kind) {
      case "unasked":
        return { kind: "given-up", why: "no-bash", says: NO_BASH };
      case "refused":
        return { kind: "refused", lines: await this.#findMistake(lines), says: verdict.says };
      case "open":
        this.#asked = lines.length;
        this.#says = verdict.says;
        this.waiting = await this.#findWaiting(text, verdict);
        return OPEN;
      case "taken":
        this.#asked = lines.length;
        return (await this.#isCutOff(text, verdict.heredocs)) ? OPEN : { kind: "whole" };
      default:
        return verdict satisfies never;
    }
  }

  async #findWaiting(text: string, { closer, heredocs }: OpenVerdict): Promise<Waiting> {
    if (await this.#isInHeredoc(text)) return { kind: "heredoc", ends: heredocs };
    if (closer !== null) return { kind: "closer", closer };
    return { kind: "end", isCompound: await this.#isCompound(text) };
  }

  /** If any command completes the text, it ended with a pipe, && or ||. */
  async #isCompound(text: string): Promise<boolean> {
    const verdict = await this.#ask(`${text}\n:`);
    return verdict.kind === "open" && verdict.closer === null;
  }

  /** bash accepts a text that ends within a here-document or after a backslash. */
  async #isCutOff(text: string, heredocs: readonly string[]): Promise<boolean> {
    if (await this.#isInHeredoc(text)) this.waiting = { kind: "heredoc", ends: heredocs };
    else if (await this.#goesOn(text)) this.waiting = { kind: "line" };
    else return false;
    return true;
  }

  /** In a here-document a quote is a plain letter. bash also warns about here-documents that have ended: `$(cat <<E … E)`. */
  async #isInHeredoc(text: string): Promise<boolean> {
    if (!text.includes("<<")) return false;
    const verdict = await this.#ask(`${text}\n'`);
    return verdict.kind === "taken" || (verdict.kind === "open" && verdict.closer !== "'");
  }

  /** In a comment, neither a backslash at the end nor a quote has a meaning. */
  async #goesOn(text: string): Promise<boolean> {
    if (!endsWithBackslash(text)) return false;
    const verdict = await this.#ask(`${text.slice(0, -1)}'`);
    return verdict.kind === "open" && verdict.closer === "'";
  }

  /** bash was not asked about every line: the mistake is in one of the lines since the last question. */
  async #findMistake(lines: readonly string[]): Promise<number> {
    let [fine, refused] = [this.#asked, lines.length];
    while (refused - fine > 1) {
      const middle = (fine + refused) >> 1;
      const verdict = await this.#ask(lines.slice(0, middle).join("\n"));
      if (verdict.kind === "refused") refused = middle;
      else fine = middle;
    }
    return refused;
  }
}

type OpenVerdict = Extract<BashVerdict, { kind: "open" }>;

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function endsWithBackslash(text: string): boolean {
  let end = text.length;
  while (text[end - 1] === "\\") end -= 1;
  return (text.length - end) % 2 === 1;
}
