// Runs the built command on a terminal, as a person would: a pseudo-terminal that script(1) makes.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { quote } from "../../src/transport/quote.js";
import { Screen } from "../unit/report/screen.js";
import { surroundings } from "./surroundings.js";
import { until } from "./until.js";

export interface TerminalOptions {
  readonly cwd: string;
  readonly home: string;
  readonly program?: "execute-batch" | "grass" | "sshoal";
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: 24 by 80. */
  readonly size?: { readonly rows: number; readonly columns: number };
  /** A line of sh that runs on it afterwards. */
  readonly afterwards?: string;
  /** A file for its stdin; absent: the terminal. */
  readonly stdin?: string;
  /** The command is typed into a shell with job control, whose prompt is `ready> `; that shell ends with `exit`. */
  readonly isInShell?: boolean;
}

export interface OnTerminal {
  /** Everything that was shown so far, including cursor movements. */
  shown(): string;
  type(keys: string): void;
  /** The current content, including lines that scrolled off the top; the last line is the cursor's. */
  lines(): string[];
  resize(columns: number, rows: number): void;
  /** Resolves once that was shown; rejects if the command ends first. */
  shows(text: string | RegExp): Promise<void>;
  /** The exit code of the command, or of the line that ran afterwards. */
  readonly ended: Promise<number | null>;
}

export function runOnTerminal(args: readonly string[], options: TerminalOptions): OnTerminal {
  const { cwd, home, program = "execute-batch", env = {}, size, afterwards, stdin, isInShell } = options;
  const file = fileURLToPath(new URL(`../../dist/${program}.js`, import.meta.url));
  const words = [process.execPath, file, ...args].map(quote).join(" ");
  const typed = `${words}${stdin === undefined ? "" : ` < ${quote(stdin)}`}`;
  const shell = "exec env PS1='ready> ' sh -i";
  // Ctrl-C also reaches this shell, and would prevent the line that runs afterwards.
  const both = afterwards === undefined ? typed : `trap : INT; ${typed}; ${afterwards}`;
  const { rows, columns } = size ?? { rows: 24, columns: 80 };
  const line = `stty rows ${rows} cols ${columns}; ${isInShell ? shell : both}`;
  // Its stdin stays open: at its end script would type Ctrl-D.
  const child = spawn("script", ["-q", "-e", "-c", line, "/dev/null"], {
    cwd,
    env: { ...surroundings(), HOME: home, TERM: "xterm", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  const screen = new Screen(columns, rows);
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
    screen.write(chunk);
  });
  if (isInShell) child.stdin.write(`${typed}\r`);
  let hasEnded = false;
  const ended = new Promise<number | null>((resolve) =>
    child.once("close", (code) => {
      hasEnded = true;
      resolve(code);
    }),
  );
  const has = (wanted: string | RegExp) =>
    typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
  return {
    shown: () => text,
    type: (keys) => void child.stdin.write(keys),
    lines: () => [...screen.lines, screen.cursorLine],
    resize: (width, height) => {
      screen.resize(width, height);
      execFileSync("stty", ["-F", terminalOf(child.pid), "rows", `${height}`, "cols", `${width}`]);
    },
    shows: async (wanted) => {
      await until(`the terminal shows ${wanted}`, () => has(wanted) || hasEnded, 60_000);
      if (!has(wanted)) throw new Error(`ended without showing ${wanted}:\n${text}`);
    },
    ended,
  };
}

/** The pseudo-terminal that script gave its child. */
function terminalOf(script: number | undefined): string {
  const [child] = readFileSync(`/proc/${script}/task/${script}/children`, "utf8").split(" ");
  return readlinkSync(`/proc/${child}/fd/0`);
}
