// Brings what ended jobs left: many jobs in one stream, into a directory of ours. Frees nothing.

import type { Outcome } from "../model/job.js";
import { quote } from "../transport/quote.js";
import type { Running, Session } from "../transport/session.js";
import { gatherTail } from "./gather-tail.js";
import { type Place, prelude } from "./layout.js";
import { RemoteError, remoteErrorFrom } from "./remote-error.js";
import { parseExit } from "./spool-event.js";
import { type Unpacked, unpack } from "./unpack.js";

export interface Collection {
  readonly place: Place;
  readonly jobs: readonly CollectedJob[];
  /** Paths below the job's directory; "." is all of it. */
  readonly copyBack: readonly string[];
  /** Fresh and empty; gets `<key>/{out,err,work/}`, as far as there is something in them. The caller's to remove when this rejects. */
  readonly into: string;
  readonly signal: AbortSignal;
  /** Called with the bytes of the archive that have arrived so far. */
  readonly onProgress?: (bytes: number) => void;
}

interface CollectedJob {
  readonly key: string;
  /** Streams that are not here yet in whole, and come with the archive. */
  readonly streams: readonly ("out" | "err")[];
}

export interface Collected {
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly written: ReadonlyMap<string, { files: number; bytes: number }>;
  readonly leftOut: readonly string[];
}

export async function collect(session: Session, collection: Collection): Promise<Collected> {
  const { jobs, into, signal, onProgress } = collection;
  signal.throwIfAborted();
  const running = await session.exec(collectScript(collection));
  running.stdin.end();
  const abort = () => running.close();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const stderr = gatherTail(running.stderr);
  try {
    const keys = new Set(jobs.map(({ key }) => key));
    const rules = { allows: (top: string) => keys.has(top), keeps: isExit };
    let bytes = 0;
    running.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      onProgress?.(bytes);
    });
    const unpacked = await unpack(running.stdout, into, rules).catch((error: unknown) => error);
    // What a stream that came to its end does not hold, whoever sent it may explain.
    if (running.stdout.readableEnded) await expectSent(running, stderr);
    signal.throwIfAborted();
    if (unpacked instanceof Error) throw unpacked;
    const { written, leftOut, kept } = unpacked as Unpacked;
    return { outcomes: readOutcomes(kept, keys), written, leftOut };
  } finally {
    signal.removeEventListener("abort", abort);
    running.close();
  }
}

/** tar has said that it sent everything; a stream that merely ended proves nothing. */
async function expectSent(running: Running, stderr: Promise<string>): Promise<void> {
  const end = await running.ended;
  const said = end.kind === "lost" ? end.reason : await stderr;
  if (!/(^|\n)sent everything\n/.test(said)) throw remoteErrorFrom("collecting results", said);
}

function collectScript(collection: Collection): string {
  // GNU tar takes a backslash in a name for the beginning of an escape; other tars do not, and know no such option.
  const asWritten = collection.copyBack.some((each) => each.includes("\\"))
    ? 'tar --no-unquote --version >/dev/null 2>&1 && set -- --no-unquote "$@"'
    : "";
  return `${listScript(collection)}
# A job may leave what even its owner cannot read as it is: directories at once, or nobody would see what is in them.
find "$@" -type d ! -perm -u+rx -exec chmod u+rwx {} \\; -o -type f ! -perm -u+r -exec chmod u+rw {} + </dev/null
${asWritten}
# Start-up files may have said something, and left their line open.
tar -cf - "$@" </dev/null && printf '\\nsent everything\\n' >&2
`;
}

/** sh text that makes all that is to come the arguments. */
export function listScript({
  place,
  jobs,
  copyBack,
}: Pick<Collection, "place" | "jobs" | "copyBack">): string {
  const wanted = jobs.map(({ key, streams }) => `add ${key} ${streams.join(" ")}`).join("\n");
  const paths = outermost(copyBack)
    .map((each) => quote(each === "." ? "work" : `work/${each}`))
    .join(" ");
  return `${prelude(place)}
cd "$spool/jobs" || exit 1
add() {
  key=$1
  shift
  for name in exit "$@"; do
    [ -s "$key/$name" ] && printf '%s\\n' "$key/$name"
  done
  for name in ${paths}; do
    [ -e "$key/$name" ] && printf '%s\\n' "$key/$name"
  done
}
set -f
IFS='
'
set -- $(
${wanted}
)`;
}

/** What is named twice, alone or within another, tar would send twice. */
function outermost(paths: readonly string[]): string[] {
  if (paths.includes(".")) return ["."];
  return [...new Set(paths)].filter((each) => !paths.some((other) => each.startsWith(`${other}/`)));
}

function isExit(name: string): boolean {
  return /^[^/]+\/exit$/.test(name);
}

function readOutcomes(kept: ReadonlyMap<string, Buffer>, keys: ReadonlySet<string>): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  for (const key of keys) {
    const outcome = parseExit(kept.get(`${key}/exit`)?.toString().trimEnd() ?? "");
    if (outcome === null) throw new RemoteError(`it does not say how attempt ${key} ended`);
    outcomes.set(key, outcome);
  }
  return outcomes;
}
