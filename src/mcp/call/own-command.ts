// Runs a command of sshoal with --json, and passes on each object that it prints. A command has a process of its own, so that
// tools can work in several directories at a time, and that no tool can write into the protocol.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type Problem, problemsError, UserError } from "../../errors.js";

export type Row = Readonly<Record<string, unknown>>;

/** How sshoal is started. */
export interface OwnProgram {
  /** Node, and the script. */
  readonly program: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface OwnCommand {
  readonly host: OwnProgram;
  readonly words: readonly string[];
  readonly directory: string;
  /** Variables that only this command has. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** For commands that only look. */
  readonly signal?: AbortSignal;
  readonly onRow: (row: Row) => void;
}

export interface Ended {
  /** Null: a signal ended it. */
  readonly exitCode: number | null;
  /** An error that came after some rows. */
  readonly error: UserError | null;
  /** What it wrote on stderr for people: the last lines. */
  readonly notes: readonly string[];
}

/** Throws UserError if the command printed nothing but errors. */
export async function runOwn({
  host,
  words,
  directory,
  env,
  stdin,
  signal,
  onRow,
}: OwnCommand): Promise<Ended> {
  const [node = "", ...script] = host.program;
  const child = spawn(node, [...script, ...words], {
    cwd: directory,
    env: { ...host.env, ...env },
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const leave = () => child.kill("SIGTERM");
  signal?.addEventListener("abort", leave, { once: true });
  child.stdin?.on("error", () => {}); // it may end without reading
  child.stdin?.end(stdin);
  const output = new OwnOutput((row) => onRow(row));
  try {
    const exitCode = await new Promise<number | null>((done, fail) => {
      child.once("error", fail);
      child.once("close", done);
      if (child.stdout) output.readRows(child.stdout);
      if (child.stderr) output.readNotes(child.stderr);
    });
    const { error, notes } = output;
    if (error !== null && output.rows === 0) throw error;
    return { exitCode, error, notes };
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

const MOST_NOTES = 10;
const LONGEST_NOTE = 300;

/** What a command prints: rows, errors and notes. */
export class OwnOutput {
  rows = 0;
  readonly notes: string[] = [];
  readonly #problems: Problem[] = [];
  #exitCode: unknown;
  readonly #onRow: (row: Row) => void;

  constructor(onRow: (row: Row) => void) {
    this.#onRow = onRow;
  }

  readRows(stream: NodeJS.ReadableStream): void {
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
      const row = parseRow(line);
      if (row === null) return;
      if (row.kind === "error") this.#noteError(row);
      else {
        this.rows += 1;
        this.#onRow(row);
      }
    });
  }

  readNotes(stream: NodeJS.ReadableStream): void {
    createInterface({ input: stream }).on("line", (line) => {
      // These repeat the errors on stdout.
      if (line.trim() === "" || /^(error|try): /.test(line)) return;
      this.notes.push(line.length > LONGEST_NOTE ? `${line.slice(0, LONGEST_NOTE)}…` : line);
      if (this.notes.length > MOST_NOTES) this.notes.shift();
    });
  }

  /** Null: none. In the words of the command. */
  get error(): UserError | null {
    const [first, ...others] = this.#problems;
    if (first === undefined) return null;
    if (others.length > 0 || first.where !== "") return problemsError(this.#problems);
    return new UserError(first.message, first.hint === undefined ? {} : { hint: first.hint });
  }

  /** What the command exited with, by its errors. */
  get exitCode(): number | null {
    return typeof this.#exitCode === "number" ? this.#exitCode : null;
  }

  #noteError({ message, where, hint, exitCode }: Row): void {
    this.#exitCode = exitCode;
    this.#problems.push({
      where: typeof where === "string" ? where : "",
      message: `${message}`,
      ...(typeof hint === "string" && { hint }),
    });
  }
}

function parseRow(line: string): Row | null {
  try {
    const row: unknown = JSON.parse(line);
    return typeof row === "object" && row !== null ? (row as Row) : null;
  } catch {
    return null;
  }
}
