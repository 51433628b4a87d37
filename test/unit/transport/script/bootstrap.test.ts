import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  LOGIN_SHELL_WORDS,
  NO_HOME_EXIT_CODE,
  scriptLines,
  startMarker,
  wordsWithScript,
} from "../../../../src/transport/script/bootstrap.js";

const LOGIN_SHELLS = ["sh", "bash", "dash", "zsh", "ksh", "fish", "tcsh"];
/** What `sh` is on the machine. */
const SHELLS = { dash: "/bin/dash", bash: "/bin/bash", busybox: "/bin/busybox", ksh: "/bin/ksh" };
const NONCE = "0123456789abcdef";

let dir = "";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "sshoal-shells-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Over {
  loginShell?: string;
  shell?: keyof typeof SHELLS;
  env?: Record<string, string>;
}

function run(stdin: string | Buffer, over: Over = {}) {
  return start(LOGIN_SHELL_WORDS, stdin, over);
}

function start(
  words: string,
  stdin: string | Buffer,
  { loginShell = "sh", shell = "dash", env = {} }: Over = {},
) {
  const bin = mkdtempSync(join(dir, "bin-"));
  symlinkSync(SHELLS[shell], join(bin, "sh"));
  const path = `${bin}:${process.env.PATH}`;
  return spawnSync(loginShell, ["-c", words], {
    input: stdin,
    env: { PATH: path, HOME: dir, LC_ALL: "C", ...env },
    maxBuffer: 1 << 26,
  });
}

/** So long that a program reads the script. */
const PADDING = `\n${"# padding\n".repeat(500)}`;

const every = LOGIN_SHELLS.flatMap((loginShell) =>
  Object.keys(SHELLS).flatMap((shell) => [
    { loginShell, shell: shell as keyof typeof SHELLS, length: "short", padding: "" },
    { loginShell, shell: shell as keyof typeof SHELLS, length: "long", padding: PADDING },
  ]),
);

test.each(every)(
  "$loginShell passes a $length script to $shell, and binary data after it arrives unchanged",
  ({ padding, ...over }) => {
    const data = randomBytes(1 << 20);
    const text = `'"\\\\ \\n $x \`y\` ! % %s é 你 \t|  `;
    const script = `pwd\ncat <<'END'\n${text}\nEND\nsha256sum${padding}`;
    const { stdout, stderr, status } = run(
      Buffer.concat([Buffer.from(scriptLines(script, NONCE)), data]),
      over,
    );
    const sum = createHash("sha256").update(data).digest("hex");
    expect(stderr.toString()).toBe("");
    expect(stdout.toString()).toBe(`${startMarker(NONCE)}${dir}\n${text}\n${sum}  -\n`);
    expect(status).toBe(0);
  },
);

test.each(every)(
  "$loginShell passes $shell a $length script in the words that start it",
  ({ padding, ...over }) => {
    const text = `'"\\\\ \\n $x \`y\` ! !! % %s é 你 \t|  `;
    const script = `pwd\ncat <<'END'\n${text}\nEND\necho "$((1 + 1))"\\\nexit 7${padding}`;
    const { stdout, stderr, status } = start(wordsWithScript(script, NONCE) ?? "", "", over);
    expect(stderr.toString()).toBe("");
    expect(stdout.toString()).toBe(`${startMarker(NONCE)}${dir}\n${text}\n2exit 7\n`);
    expect(status).toBe(0);
  },
);

test("words with a script stay below the size of a packet, and words that are cut off run nothing", () => {
  const words = wordsWithScript(`echo ran${"#".repeat(31_000)}`, NONCE) ?? "";
  expect(words.length).toBeGreaterThan(31_000);
  for (const loginShell of LOGIN_SHELLS) {
    for (const cut of [1, 2, 3, 1000])
      expect(start(words.slice(0, -cut), "", { loginShell }).stdout.toString()).toBe("");
  }
  expect(wordsWithScript(`echo ran${"#".repeat(32_000)}`, NONCE)).toBeNull();
});

test.each(Object.keys(SHELLS))("%s takes a script of 200 kB", (shell) => {
  const script = `${Array.from({ length: 20_000 }, (_, i) => `x=${i} # é\\`).join("\n")}\necho $x`;
  expect(script.length).toBeGreaterThan(200_000);
  const { stdout } = run(scriptLines(script, NONCE), { shell: shell as keyof typeof SHELLS });
  expect(stdout.toString()).toBe(`${startMarker(NONCE)}19999\n`);
});

test.each(Object.keys(SHELLS))("a script that was cut off does not run in %s", (shell) => {
  for (const [script, cuts] of [
    ["echo ran", [1, 3]],
    [`echo ran${PADDING}`, [2, 3, 1000]],
  ] as const) {
    const lines = scriptLines(script, NONCE);
    for (const cut of cuts) {
      const { stdout, status } = run(lines.slice(0, -cut), { shell: shell as keyof typeof SHELLS });
      expect(stdout.toString()).toBe("");
      expect(status).not.toBe(0);
    }
  }
});

test("of a long script, the second line alone does nothing", () => {
  const [, second] = scriptLines(`echo ran${PADDING}`, NONCE).split("\n");
  const { stdout, stderr, status } = run(`${second}\n`);
  expect([stdout.toString(), stderr.toString(), status]).toEqual(["", "", 1]);
});

test.each(["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho 'unknown flag' >&2\nexit 1\n"])(
  "a long script also runs where dd lacks the flag, or does not work: %s",
  (dd) => {
    const bin = mkdtempSync(join(dir, "dd-"));
    writeFileSync(join(bin, "dd"), dd, { mode: 0o755 });
    const script = `sha256sum${PADDING}`;
    const data = randomBytes(1000);
    const stdin = Buffer.concat([Buffer.from(scriptLines(script, NONCE)), data]);
    const { stdout } = run(stdin, { env: { PATH: `${bin}:/usr/bin:/bin` } });
    const sum = createHash("sha256").update(data).digest("hex");
    expect(stdout.toString()).toBe(`${startMarker(NONCE)}${sum}  -\n`);
  },
);

test.each(LOGIN_SHELLS)("the exit code is passed on by %s", (loginShell) => {
  expect(run(scriptLines("exit 7", NONCE), { loginShell }).status).toBe(7);
  expect(run(scriptLines("false", NONCE), { loginShell }).status).toBe(1);
  expect(run(scriptLines("kill -TERM $$", NONCE), { loginShell }).signal).toBe("SIGTERM");
});

test.each(LOGIN_SHELLS)("for %s that reads commands from stdin, the line is a comment", (loginShell) => {
  const { stdout, stderr } = spawnSync(loginShell, [], {
    input: scriptLines("echo it-ran; echo it-ran >&2", NONCE),
    env: { PATH: process.env.PATH, HOME: dir },
  });
  expect(stdout.toString() + stderr.toString()).not.toContain("it-ran");
});

test.each(Object.keys(SHELLS))("spaces at the end of a script count in %s", (shell) => {
  const { stdout } = run(scriptLines("printf '<%s>' a\\ ", NONCE), { shell: shell as keyof typeof SHELLS });
  expect(stdout.toString()).toBe(`${startMarker(NONCE)}<a >`);
});

test("the line numbers that sh reports are those of the script", () => {
  const { stderr } = run(scriptLines("true\ntrue\n/no/such/thing", NONCE), { shell: "bash" });
  expect(stderr.toString()).toContain("line 3:");
});

test("the script sees none of our variables, even if they were exported", () => {
  const { stdout } = run(scriptLines('echo "<$s>"', NONCE), { env: { s: "exported", IFS: "c" } });
  expect(stdout.toString()).toBe(`${startMarker(NONCE)}<>\n`);
});

test("a missing home directory is reported, and the script does not run", () => {
  const { stdout, stderr, status } = run(scriptLines("echo ran", NONCE), { env: { HOME: "/no/such/home" } });
  expect(stdout.toString()).toBe(startMarker(NONCE));
  expect(stderr.toString()).toContain("/no/such/home");
  expect(status).toBe(NO_HOME_EXIT_CODE);
});

test("a NUL byte in a script is refused", () => {
  expect(() => scriptLines("a\0b", NONCE)).toThrow("NUL");
});

test.each(["", PADDING])(
  "the rest of a script of which a start-up file took a part does not run",
  (padding) => {
    const lines = scriptLines(`touch ran\n${"echo filler; ".repeat(20)}\ntouch ran${padding}`, NONCE);
    for (let taken = 1; taken < lines.length; taken += 97) {
      const { stdout } = run(lines.slice(taken));
      expect([taken, stdout.toString(), existsSync(join(dir, "ran"))]).toEqual([taken, "", false]);
    }
  },
);
