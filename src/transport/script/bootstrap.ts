// Passes a script to POSIX sh through a login shell that may be bash, zsh, fish, tcsh or any other. The login shell
// always gets the same fixed words; the script is the first line of stdin.

/**
 * `read` takes single bytes from a pipe, so the text after the line is left for the script. A line without its newline
 * was cut off by a lost connection: then `read` fails and nothing runs. The words contain nothing that a shell would
 * expand within single quotes (in fish, a backslash would be).
 */
export const LOGIN_SHELL_WORDS = `exec sh -c 'IFS= read -r s&&eval "$(printf %b "\${s#?}")"'`;

/** The first line of the script's stdout. Output before it comes from the login shell's start-up files. */
export function startMarker(nonce: string): string {
  return `sshoal-begin-${nonce}\n`;
}

/** The exit code of a script that did not run because the home directory could not be entered. */
export const NO_HOME_EXIT_CODE = 125;

/**
 * The line that carries `script`. It starts with `#`: if a start-up file has replaced the shell by one that reads
 * commands from stdin, the line is a comment. Everything is on one line, so that sh counts lines correctly.
 */
export function scriptLine(script: string, nonce: string): string {
  const prefix = `unset s;echo ${startMarker(nonce).trimEnd()};cd -- "$HOME"||exit ${NO_HOME_EXIT_CODE};`;
  return `#${toPrintable(prefix + script)}\n`;
}

/** Printable ASCII for `printf %b`, so that no locale and no `read` can change it. */
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
