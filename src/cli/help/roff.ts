// Text as the typesetter of man pages reads it: no character of it is taken for a command.

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\e",
  // A plain one may be printed as a hyphen, which no shell takes for a dash.
  "-": "\\-",
  "'": "\\(aq",
  '"': "\\(dq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
  "…": "...",
};

/** A line of text, or a part of one. */
export function roff(text: string): string {
  const escaped = text.replace(/\s*\n\s*/g, " ").replace(/[\\\-'"`^~…]/g, (char) => ESCAPES[char] ?? char);
  return escaped.replace(/^\./, "\\&.");
}

/** An argument of a macro. */
export function roffWord(text: string): string {
  return `"${roff(text)}"`;
}

export function bold(text: string): string {
  return `\\fB${roff(text)}\\fR`;
}

export function italic(text: string): string {
  return `\\fI${roff(text)}\\fR`;
}
