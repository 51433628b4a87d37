// A real shell on a terminal, into which a person types a part of a line and presses Tab. What the line holds then is read from a file
// that a key of ours writes.

import { spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { quote } from "../../src/transport/quote.js";
import { until } from "./until.js";

export type ShellName = "bash" | "zsh" | "fish";

export interface ShellOptions {
  readonly shell: ShellName;
  /** Lines of its start-up file. */
  readonly setUp: string;
  readonly cwd: string;
  readonly home: string;
  readonly path: string;
  /** For the shell's own files. */
  readonly dir: string;
}

export interface InteractiveShell {
  /** The line after Tab. */
  tab(typed: string): Promise<string>;
  close(): Promise<void>;
}

/** Ctrl-G writes the line to the file; Ctrl-U empties it. */
const [TAB, DUMP, EMPTY] = ["\t", "\x07", "\x15"];

export async function openShell(options: ShellOptions): Promise<InteractiveShell> {
  const { shell, dir, cwd, home, path, setUp } = options;
  const [ready, line] = [join(dir, "ready"), join(dir, "line")];
  await mkdir(dir, { recursive: true });
  const { words, lines } = STARTS[shell](dir, quote(line));
  const text = [setUp, ...lines, `: > ${quote(ready)}`, ""].join("\n");
  for (const name of ["rc", ".zshrc"]) await writeFile(join(dir, name), text);
  // A terminal that is too narrow would make the shell scroll its line.
  const child = spawn(
    "script",
    ["-q", "-c", `stty cols 200; exec ${words.map(quote).join(" ")}`, "/dev/null"],
    {
      cwd,
      env: { HOME: home, PATH: path, TERM: "dumb", LANG: "C.UTF-8" },
    },
  );
  let shown = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (shown += chunk));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const readWhenThere = (what: string, file: string) =>
    until(what, () => readFile(file, "utf8").catch(() => null)).catch((cause) => {
      throw new Error(`${shell} shows:\n${shown}`, { cause });
    });
  await readWhenThere("the shell has started", ready);
  return {
    async tab(typed) {
      await rm(line, { force: true });
      child.stdin.write(`${typed}${TAB}${DUMP}`);
      const held = await readWhenThere(`the line after ${typed}`, line);
      child.stdin.write(EMPTY);
      return held.replace(/\n$/, "");
    },
    close() {
      child.kill("SIGKILL");
      return ended;
    },
  };
}

interface Start {
  readonly words: readonly string[];
  /** What makes the keys work. */
  readonly lines: readonly string[];
}

/** `line`: the quoted name of the file. */
const STARTS: Readonly<Record<ShellName, (dir: string, line: string) => Start>> = {
  bash: (dir, line) => ({
    words: ["bash", "--noprofile", "--rcfile", join(dir, "rc"), "-i"],
    lines: [
      "bind 'set bell-style none'",
      `dump() { printf '%s\\n' "$READLINE_LINE" > ${line}.new && mv ${line}.new ${line}; }`,
      `bind -x '"\\C-g": dump'`,
    ],
  }),
  zsh: (dir, line) => ({
    words: ["env", `ZDOTDIR=${dir}`, "zsh", "-i"],
    lines: [
      "unsetopt beep auto_menu; bindkey -e",
      `dump() { print -r -- "$BUFFER" > ${line}.new && command mv ${line}.new ${line} }`,
      "zle -N dump; bindkey '^G' dump",
    ],
  }),
  fish: (dir, line) => ({
    words: ["fish", "--init-command", `source ${join(dir, "rc")}`, "-i"],
    lines: [
      `function dump; commandline > ${line}.new; and command mv ${line}.new ${line}; end`,
      "bind \\cg dump; bind \\cu kill-whole-line",
    ],
  }),
};
