// How a script reaches POSIX sh through a login shell that may be bash, zsh, fish, tcsh or anything else:
// the login shell only ever sees the same fixed words; the script is the first line of stdin.

/**
 * `read` takes single bytes from a pipe, so what follows the line is left for the script. A line without its newline
 * is a script cut off by a lost link: `read` then fails and nothing runs. The words hold nothing that any shell would
 * expand within single quotes (a backslash would be one, in fish).
 */
export const LOGIN_SHELL_WORDS = `exec sh -c 'IFS= read -r s&&eval "$(printf %b "\${s#?}")"'`;

/** What the script's stdout begins with: whatever came before it is noise of the login shell's start-up files. */
export function startMarker(nonce: string): string {
  return `sshoal-begin-${nonce}\n`;
}

/** Exit code of a script that did not run since the home directory could not be entered. */
export const NO_HOME_EXIT_CODE = 125;

/**
 * The line that carries `script`. It starts with `#`: should a start-up file have replaced the shell by another one
 * that reads its commands from stdin, the line is a comment to it. All on one line, so that sh counts lines right.
 */
export function scriptLine(script: string, nonce: string): string {
  const prefix = `unset s;echo ${startMarker(nonce).trimEnd()};cd -- "$HOME"||exit ${NO_HOME_EXIT_CODE};`;
  return `#${toPrintable(prefix + script)}\n`;
}

/** Printable ASCII for `printf %b`, so that no locale and no `read` can alter it. */
function toPrintable(script: string): string {
  if (script.includes("\0")) throw new Error("a script cannot hold a NUL byte");
  let line = "";
  for (const byte of Buffer.from(script)) line += ESCAPES[byte];
  return line;
}

const ESCAPES = Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x0a) return "\\n";
  if (byte === 0x5c) return "\\\\";
  if (byte >= 0x20 && byte <= 0x7e) return String.fromCharCode(byte);
  return `\\0${byte.toString(8).padStart(3, "0")}`;
});
