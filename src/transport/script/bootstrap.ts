// Passes a script to POSIX sh through a login shell that may be bash, zsh, fish, tcsh or any other. The login shell
// gets the same fixed words, and the script is the first line of stdin. Only the first script of a connection can be in the
// words themselves.

/** Every script line begins with it, so that the rest of a line of which a start-up file took a part does not run. */
const MARK = "#sshoal: ";

/**
 * `read` takes single bytes from a pipe, so the text after the line is left for the script. A line without its newline
 * was cut off by a lost connection: then `read` fails and nothing runs. The words contain nothing that a shell would
 * expand within single quotes (in fish, a backslash would be).
 */
export const LOGIN_SHELL_WORDS = `exec sh -c 'IFS= read -r s&&case $s in "${MARK}"*)eval "$(printf %b "\${s#?????????}")";;*)exit 1;;esac'`;

/** The first line of the script's stdout. Output before it comes from the login shell's start-up files. */
export function startMarker(nonce: string): string {
  return `sshoal-begin-${nonce}\n`;
}

/** The exit code of a script that did not run because the home directory could not be entered. */
export const NO_HOME_EXIT_CODE = 125;

/** Reading a longer line byte by byte takes longer than starting a program. */
const LONG_BYTES = 3000;

/**
 * The lines that carry `script`, mostly one. They start with `#`: if a start-up file has replaced the shell by one that
 * reads commands from stdin, they are comments. The script is on one line, so that sh counts lines correctly.
 */
export function scriptLines(script: string, nonce: string): string {
  const text = toPrintable(startLines(nonce) + script);
  if (text.length < LONG_BYTES) return `${MARK}${text}\n`;
  // Alone it does nothing: a start-up file that reads a line has taken the first one.
  const line = `#exit 1;${nonce}${text}${nonce}\n`;
  return `${MARK}${toPrintable(readLong(line.length, nonce))}\n${line}`;
}

function startLines(nonce: string): string {
  return `unset s;echo ${startMarker(nonce).trimEnd()};cd -- "$HOME"||exit ${NO_HOME_EXIT_CODE};`;
}

/**
 * sh text that reads the next line with one program and runs it. `dd` reads this many bytes and no more. One that lacks the
 * flag reads nothing. The nonce at both ends shows that nothing was cut off.
 */
function readLong(bytes: number, nonce: string): string {
  return `s=$(dd iflag=fullblock bs=${bytes} count=1 2>/dev/null)||IFS= read -r s;case $s in "#exit 1;${nonce}"*"${nonce}")s=\${s#*${nonce}};eval "$(printf %b "\${s%${nonce}}")";;*)exit 1;;esac`;
}

/** A packet with 32,768 bytes is the largest that every server accepts, and it has more than the words. */
const MOST_WORDS_BYTES = 32_000;

/**
 * Words for the login shell that hold the script, and need nothing of stdin. Null: it is too long. Some login shells refuse
 * long words (csh), and then nothing runs. Each character that a shell might expand in quotes is escaped.
 */
export function wordsWithScript(script: string, nonce: string): string | null {
  const text = toPrintable(startLines(nonce) + script).replace(/[`$"'!]/g, escapeLetter);
  const words = `exec sh -c 'eval "$(printf %b "${text.replaceAll("\\\\", escapeLetter("\\"))}")"'`;
  return words.length > MOST_WORDS_BYTES ? null : words;
}

/** Printable ASCII for `printf %b`, so that no locale and no `read` can change it. */
function toPrintable(script: string): string {
  if (script.includes("\0")) throw new Error("a script cannot hold a NUL byte");
  const bytes = Buffer.from(script).toString("latin1");
  return bytes
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replace(/[^ -~]/g, escapeLetter);
}

function escapeLetter(letter: string): string {
  return `\\0${letter.charCodeAt(0).toString(8).padStart(3, "0")}`;
}
