import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  LOGIN_SHELL_WORDS,
  NO_HOME_EXIT_CODE,
  scriptLine,
  startMarker,
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

function run(stdin: string | Buffer, { loginShell = "sh", shell = "dash", env = {} }: Over = {}) {
  const bin = mkdtempSync(join(dir, "bin-"));
  symlinkSync(SHELLS[shell], join(bin, "sh"));
  const path = `${bin}:${process.env.PATH}`;
  return spawnSync(loginShell, ["-c", LOGIN_SHELL_WORDS], {
    input: stdin,
    env: { PATH: path, HOME: dir, LC_ALL: "C", ...env },
    maxBuffer: 1 << 26,
  });
}

const every = LOGIN_SHELLS.flatMap((loginShell) =>
  Object.keys(SHELLS).map((shell) => ({ loginShell, shell: shell as keyof typeof SHELLS })),
);

test.each(every)(
  "$loginShell passes the script to $shell, and binary data after it arrives unchanged",
  (over) => {
    const data = randomBytes(1 << 20);
    const text = `'"\\\\ \\n $x \`y\` ! % %s é 你 \t|  `;
    const script = `pwd\ncat <<'END'\n${text}\nEND\nsha256sum`;
    const { stdout, stderr, status } = run(
      Buffer.concat([Buffer.from(scriptLine(script, NONCE)), data]),
      over,
    );
    const sum = createHash("sha256").update(data).digest("hex");
    expect(stderr.toString()).toBe("");
    expect(stdout.toString()).toBe(`${startMarker(NONCE)}${dir}\n${text}\n${sum}  -\n`);
    expect(status).toBe(0);
  },
);

test.each(Object.keys(SHELLS))("%s takes a script of 200 kB", (shell) => {
  const script = `${Array.from({ length: 20_000 }, (_, i) => `x=${i} # é\\`).join("\n")}\necho $x`;
  expect(script.length).toBeGreaterThan(200_000);
  const { stdout } = run(scriptLine(script, NONCE), { shell: shell as keyof typeof SHELLS });
  expect(stdout.toString()).toBe(`${startMarker(NONCE)}19999\n`);
});

test.each(Object.keys(SHELLS))("a script that was cut off does not run in %s", (shell) => {
  const line = scriptLine("echo ran", NONCE);
  for (const cut of [1, 3]) {
    const { stdout, status } = run(line.slice(0, -cut), { shell: shell as keyof typeof SHELLS });
    expect(stdout.toString()).toBe("");
    expect(status).not.toBe(0);
  }
});

test.each(LOGIN_SHELLS)("the exit code is passed on by %s", (loginShell) => {
  expect(run(scriptLine("exit 7", NONCE), { loginShell }).status).toBe(7);
  expect(run(scriptLine("false", NONCE), { loginShell }).status).toBe(1);
  expect(run(scriptLine("kill -TERM $$", NONCE), { loginShell }).signal).toBe("SIGTERM");
});

test.each(LOGIN_SHELLS)("for %s that reads commands from stdin, the line is a comment", (loginShell) => {
  const { stdout, stderr } = spawnSync(loginShell, [], {
    input: scriptLine("echo it-ran; echo it-ran >&2", NONCE),
    env: { PATH: process.env.PATH, HOME: dir },
  });
  expect(stdout.toString() + stderr.toString()).not.toContain("it-ran");
});

test.each(Object.keys(SHELLS))("spaces at the end of a script count in %s", (shell) => {
  const { stdout } = run(scriptLine("printf '<%s>' a\\ ", NONCE), { shell: shell as keyof typeof SHELLS });
  expect(stdout.toString()).toBe(`${startMarker(NONCE)}<a >`);
});

test("the line numbers that sh reports are those of the script", () => {
  const { stderr } = run(scriptLine("true\ntrue\n/no/such/thing", NONCE), { shell: "bash" });
  expect(stderr.toString()).toContain("line 3:");
});

test("the script sees none of our variables, even if they were exported", () => {
  const { stdout } = run(scriptLine('echo "<$s>"', NONCE), { env: { s: "exported", IFS: "c" } });
  expect(stdout.toString()).toBe(`${startMarker(NONCE)}<>\n`);
});

test("a missing home directory is reported, and the script does not run", () => {
  const { stdout, stderr, status } = run(scriptLine("echo ran", NONCE), { env: { HOME: "/no/such/home" } });
  expect(stdout.toString()).toBe(startMarker(NONCE));
  expect(stderr.toString()).toContain("/no/such/home");
  expect(status).toBe(NO_HOME_EXIT_CODE);
});

test("a NUL byte in a script is refused", () => {
  expect(() => scriptLine("a\0b", NONCE)).toThrow("NUL");
});
