// Parses a machine's report on stderr after it has sent an archive: how tar ended, and which files could not be read.

/**
 * sh text: sends the arguments as an archive on stdout, then the report on stderr. Words end in NUL, which no name
 * contains.
 */
export const SEND_AND_REPORT = `tar -cf - $as_written "$@" </dev/null
status=$?
printf '\\0sent %s\\0' "$status" >&2
[ "$status" = 0 ] || find "$@" \\( -type d -o -type f \\) -exec sh -c 'for path; do
  if [ -d "$path" ]; then [ -r "$path" ] && [ -x "$path" ] || printf "%s/\\0" "$path"
  elif [ -e "$path" ]; then [ -r "$path" ] || printf "%s\\0" "$path"
  fi
done' sh {} + </dev/null >&2 2>/dev/null
printf 'end\\0' >&2
`;

export interface SentReport {
  /** Names that are not in the archive; directories end in "/". */
  readonly unread: readonly string[];
  /** Names of files in it that lack a part of their content. */
  readonly partial: readonly string[];
}

/** Null: the archive is unusable. */
export function parseSentReport(stderr: string): SentReport | null {
  const [said = "", ...words] = stderr.split("\0");
  const [sent, end] = [words.findIndex((word) => /^sent \d+$/.test(word)), words.indexOf("end")];
  if (sent < 0 || end < sent) return null;
  if (words[sent] === "sent 0") return { unread: [], partial: [] };
  const complaints = said.split("\n");
  const unread = [...words.slice(sent + 1, end), ...complaints.flatMap(unreadName)];
  const partial = complaints.flatMap((line) => nameBy(PARTIAL, line));
  return unread.length + partial.length > 0 || CHANGED.test(said) ? { unread, partial } : null;
}

/** Messages of GNU tar about files that changed while it read them, or were removed before. */
const CHANGED = /^tar: .*: (file changed as we read it|File removed before we read it)$/m;
/** GNU tar writes zeros for the part of a file that it could not read. */
const PARTIAL = /^tar: (.+): (?:File shrank by |Read error at )/;
const UNREAD_BY_GNU = /^tar: (.+): Cannot \w+: [^:]*$/;
const UNREAD_BY_BUSYBOX = [
  /^tar: can't open '(.+)': [^:]*$/,
  /^tar: (.+): (?:File name too long|Permission denied|Input\/output error)$/,
];

function unreadName(line: string): string[] {
  const complaint = [PARTIAL, UNREAD_BY_GNU, ...UNREAD_BY_BUSYBOX].find((each) => each.test(line));
  return complaint === undefined || complaint === PARTIAL ? [] : nameBy(complaint, line);
}

/** GNU tar escapes unusual letters in a name: then the directory is named instead. */
function nameBy(complaint: RegExp, line: string): string[] {
  const name = complaint.exec(line)?.[1];
  if (name === undefined) return [];
  return [name.includes("\\") ? name.slice(0, name.lastIndexOf("/", name.indexOf("\\")) + 1) : name];
}
