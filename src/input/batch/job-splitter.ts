// Cuts a script into jobs where bash would: a job is all the lines of one command. Lines may arrive one by one, and a
// job is returned as soon as its last line is there. bash is asked only if a quick look cannot decide.

import type { AskBash } from "./ask-bash.js";
import { Completeness, type Look, type Waiting } from "./completeness.js";
import { isPlainCommand } from "./plain-command.js";
import { areWhole, isEven } from "./vouch.js";

/** A line that begins with #@. */
export interface OptionLine {
  readonly line: number;
  /** The text after #@. */
  readonly text: string;
}

export type Piece =
  | {
      readonly kind: "job";
      /** Its first line; a script's lines count from 1. */
      readonly line: number;
      readonly command: string;
      /** The lines right above it. */
      readonly options: readonly OptionLine[];
      /** Not null if bash refuses it, or if it is incomplete. */
      readonly mistake: Mistake | null;
    }
  /** Lines without a job right below. */
  | { readonly kind: "options"; readonly options: readonly OptionLine[] };

export interface Mistake {
  readonly line: number;
  /** bash refuses it; its end is missing; there is no bash on this computer. */
  readonly kind: "refused" | "open" | "no-bash";
  /** In bash's own words if it was asked. */
  readonly says: string;
}

/** The known part of an incomplete job. */
export interface Held {
  readonly line: number;
  readonly text: string;
  /** What bash waits for, in words. */
  readonly waitsFor: string;
}

const NO_OPTIONS: readonly OptionLine[] = [];
/** The most lines in one question to bash. */
const LARGEST_BUNCH = 512;

/** One call at a time: await it before the next. */
export class JobSplitter {
  readonly #ask: AskBash;
  readonly #patience: number;
  /** The number of the next line. */
  #line = 1;
  #options: OptionLine[] = [];
  /** How many lines the next question has: fewer after a failed one. */
  #bunch = LARGEST_BUNCH / 8;
  #open: { readonly lines: string[]; readonly state: Completeness } | null = null;

  /** `patience`: how often bash may be asked about one job before it is given up. */
  constructor(ask: AskBash, patience = 1000) {
    this.#ask = ask;
    this.#patience = patience;
  }

  /** True if every line so far is in a job that was returned. */
  get isBetweenJobs(): boolean {
    return this.#open === null && this.#options.length === 0;
  }

  get held(): Held | null {
    if (this.#open === null) return null;
    const { lines, state } = this.#open;
    return {
      line: this.#line - lines.length,
      text: lines.join("\n"),
      waitsFor: describeWaiting(state.waiting),
    };
  }

  /** The next lines, without their line ends. */
  async add(lines: readonly string[]): Promise<Piece[]> {
    const pieces: Piece[] = [];
    const coming = new Coming(lines);
    let vouched = 0;
    for (let line = coming.take(); line !== undefined; line = coming.take()) {
      this.#line += 1;
      vouched -= 1;
      if (this.#open === null && this.#isBetween(line, pieces)) continue;
      const isPlain = this.#open === null && (vouched > 0 || isPlainCommand(line));
      if (this.#open === null && !isPlain) vouched = await this.#vouch(line, coming);
      if (isPlain || vouched > 0) pieces.push(this.#job([line], null));
      else coming.putBack(await this.#goOn(line, pieces));
    }
    return pieces;
  }

  /** How many lines, from this one on, are each a whole command or between commands; 0: each must be checked alone. */
  async #vouch(first: string, coming: Coming): Promise<number> {
    const doubtful: string[] = [];
    let seen = 0;
    for (let line: string | undefined = first; doubtful.length < this.#bunch; line = coming.peek(seen - 1)) {
      if (line === undefined) break;
      const isDoubtful = !isNoCommand(line) && !isPlainCommand(line);
      if (isDoubtful && !isEven(line)) break;
      if (isDoubtful) doubtful.push(line);
      seen += 1;
    }
    if (doubtful.length > 1 && (await areWhole(doubtful, this.#ask))) {
      this.#bunch = Math.min(this.#bunch * 2, LARGEST_BUNCH);
      return seen;
    }
    this.#bunch = doubtful.length > 1 ? Math.ceil(this.#bunch / 8) : this.#bunch + 1;
    return 0;
  }

  /** Call it when no more lines arrive. */
  async end(): Promise<Piece[]> {
    const pieces: Piece[] = [];
    if (this.#open !== null) {
      const { lines, state } = this.#open;
      this.#open = null;
      const says = await state.lastWords(lines);
      pieces.push(this.#job(lines, { kind: "open", line: this.#line - lines.length, says }));
    }
    this.#leaveOptions(pieces);
    return pieces;
  }

  /** Blank lines and comments between jobs. */
  #isBetween(line: string, pieces: Piece[]): boolean {
    const start = line.trimStart();
    if (start.startsWith("#@")) {
      this.#options.push({ line: this.#line - 1, text: start.slice("#@".length) });
      return true;
    }
    if (!isNoCommand(line)) return false;
    this.#leaveOptions(pieces);
    return true;
  }

  #leaveOptions(pieces: Piece[]): void {
    if (this.#options.length > 0) pieces.push({ kind: "options", options: this.#options });
    this.#options = [];
  }

  /** Resolves with lines that must be read again: bash continues after the line of a mistake. */
  async #goOn(line: string, pieces: Piece[]): Promise<string[]> {
    this.#open ??= { lines: [], state: new Completeness(this.#ask, this.#patience) };
    const { lines, state } = this.#open;
    lines.push(line);
    const verdict = await state.look(lines);
    if (verdict.kind === "open") return [];
    this.#open = null;
    if (verdict.kind !== "refused") {
      pieces.push(this.#job(lines, verdict.kind === "whole" ? null : this.#givenUp(lines, verdict)));
      return [];
    }
    const rest = lines.splice(verdict.lines);
    this.#line -= rest.length;
    pieces.push(this.#job(lines, { kind: "refused", line: this.#line - 1, says: verdict.says }));
    return rest;
  }

  #givenUp(lines: readonly string[], { why, says }: Extract<Look, { kind: "given-up" }>): Mistake {
    return { kind: why, line: this.#line - lines.length, says };
  }

  #job(lines: readonly string[], mistake: Mistake | null): Piece {
    const options = this.#options.length === 0 ? NO_OPTIONS : this.#options;
    if (options === this.#options) this.#options = [];
    return { kind: "job", line: this.#line - lines.length, command: lines.join("\n"), options, mistake };
  }
}

/** Lines that are still to be read; some may be put back. */
class Coming {
  readonly #lines: readonly string[];
  #at = 0;
  /** Lines that were put back, the next one last. */
  readonly #returned: string[] = [];

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  take(): string | undefined {
    return this.#returned.pop() ?? withoutReturn(this.#lines[this.#at++]);
  }

  putBack(lines: readonly string[]): void {
    for (let at = lines.length - 1; at >= 0; at -= 1) this.#returned.push(lines[at] ?? "");
  }

  /** peek(0) is what take() would return. */
  peek(ahead: number): string | undefined {
    const count = this.#returned.length;
    if (ahead < count) return this.#returned[count - 1 - ahead];
    return withoutReturn(this.#lines[this.#at + ahead - count]);
  }
}

/** Removes the carriage return of Windows line ends. */
function withoutReturn(line: string | undefined): string | undefined {
  return line?.endsWith("\r") ? line.slice(0, -1) : line;
}

function isNoCommand(line: string): boolean {
  const start = line.trimStart();
  return start === "" || start.startsWith("#");
}

function describeWaiting(waiting: Waiting): string {
  switch (waiting.kind) {
    case "line":
      return "the next line, after a backslash";
    case "closer":
      return `a matching ${waiting.closer}`;
    case "heredoc":
      return `the line ${waiting.ends[0] ?? ""} of a here-document`;
    case "end":
      return "the end of a command, such as done, fi or }";
    default:
      return waiting satisfies never;
  }
}
