// Runs the built command on a terminal, as a person would: a pseudo-terminal that script(1) makes.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { quote } from "../../src/transport/quote.js";
import { until } from "./until.js";

export interface TerminalOptions {
  readonly cwd: string;
  readonly home: string;
  readonly program?: "execute-batch" | "sshoal";
  readonly env?: Readonly<Record<string, string>>;
  /** Left out: 24 by 80. */
  readonly size?: { readonly rows: number; readonly columns: number };
  /** A line of sh that is run there afterwards. */
  readonly afterwards?: string;
}

export interface OnTerminal {
  /** All that was shown so far, with what moves the cursor. */
  shown(): string;
  type(keys: string): void;
  /** Resolves once that was shown; rejects when the command ends first. */
  shows(text: string | RegExp): Promise<void>;
  /** The exit code of the command, or of what was run afterwards. */
  readonly ended: Promise<number | null>;
}

export function runOnTerminal(args: readonly string[], options: TerminalOptions): OnTerminal {
  const { cwd, home, program = "execute-batch", env = {}, size, afterwards } = options;
  const file = fileURLToPath(new URL(`../../dist/${program}.js`, import.meta.url));
  const words = [process.execPath, file, ...args].map(quote).join(" ");
  const { rows, columns } = size ?? { rows: 24, columns: 80 };
  const line = `stty rows ${rows} cols ${columns}; ${words}${afterwards === undefined ? "" : `; ${afterwards}`}`;
  // Its stdin stays open: at its end script would type Ctrl-D.
  const child = spawn("script", ["-q", "-e", "-c", line, "/dev/null"], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, TERM: "xterm", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => (text += chunk));
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
    shows: async (wanted) => {
      await until(`the terminal shows ${wanted}`, () => has(wanted) || hasEnded, 60_000);
      if (!has(wanted)) throw new Error(`ended without showing ${wanted}:\n${text}`);
    },
    ended,
  };
}
