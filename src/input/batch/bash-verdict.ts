// Interprets the messages of `bash -n` about a text, with LC_ALL=C, of bash 3.2 to 5.3.

export type BashVerdict =
  /** bash accepts it, perhaps only because the text ends there. `heredocs`: end lines that it expected. */
  | { readonly kind: "taken"; readonly heredocs: readonly string[] }
  /** More must follow. `closer`: the character that bash looks for; null if it did not name one. */
  | {
      readonly kind: "open";
      readonly closer: string | null;
      readonly heredocs: readonly string[];
      readonly says: string;
    }
  | { readonly kind: "refused"; readonly says: string }
  /** There is no bash on this computer. */
  | { readonly kind: "unasked" };

const HEREDOC = /here-document at line \d+ delimited by end-of-file \(wanted `([\s\S]*?)'\)$/gm;
const CLOSER = /^unexpected EOF while looking for matching `(.)'/;
const OPEN = /^(unexpected EOF|syntax error: unexpected end of file|unexpected token `EOF' in conditional)/;

export function parseBashVerdict(exitCode: number, stderr: string): BashVerdict {
  const heredocs = [...stderr.matchAll(HEREDOC)].map(([, wanted = ""]) => wanted);
  if (exitCode === 0) return { kind: "taken", heredocs };
  const messages = stderr.split("\n").map((line) => line.replace(/^\S*bash: (line \d+: )?/, ""));
  const said = messages.filter((line) => line !== "" && !line.startsWith("warning: "));
  const open = said.find((message) => OPEN.test(message));
  // After a mistake bash prints the line itself, which may contain any words.
  if (open === undefined || open !== said.find((message) => /unexpected|syntax error/.test(message))) {
    return { kind: "refused", says: said[0] ?? `bash -n ended with ${exitCode}` };
  }
  return { kind: "open", closer: CLOSER.exec(open)?.[1] ?? null, heredocs, says: open };
}
