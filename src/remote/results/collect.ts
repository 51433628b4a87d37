// Collects the results of ended jobs: many jobs in one stream, into a local directory. Frees nothing on the machine.

import type { Outcome } from "../../model/job.js";
import { quote } from "../../transport/quote.js";
import type { Running, Session } from "../../transport/session.js";
import { gatherTail } from "../engine/gather-tail.js";
import { type Place, prelude } from "../engine/layout.js";
import { RemoteError, remoteErrorFrom } from "../engine/remote-error.js";
import { parseExit } from "../spool/spool-event.js";
import { nameMissing } from "./missing-paths.js";
import { checkReported, removePartial } from "./remove-partial.js";
import { parseSentReport, SEND_AND_REPORT, type SentReport } from "./sent-report.js";
import { type Unpacked, unpack } from "./unpack.js";

interface Request {
  readonly place: Place;
  readonly jobs: readonly CollectedJob[];
  /** Paths below the job's directory; "." is all of it. */
  readonly copyBack: readonly string[];
}

export interface Collection extends Request {
  /**
   * Must be new and empty; gets `<key>/{out,err,work/}` as far as they have content. If this rejects, the caller
   * removes it.
   */
  readonly into: string;
  readonly signal: AbortSignal;
  /** Called with the bytes of the archive that have arrived so far. */
  readonly onProgress?: (bytes: number) => void;
}

interface CollectedJob {
  readonly key: string;
  /** Streams that are not complete on the local disk yet, and arrive with the archive. */
  readonly streams: readonly ("out" | "err")[];
  /** Set if it differs from that of the collection. */
  readonly copyBack?: readonly string[] | undefined;
  /** Only these paths of its results; absent: the paths in `copyBack`. */
  readonly only?: readonly string[];
}

export interface Collected {
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly written: ReadonlyMap<string, { files: number; bytes: number }>;
  readonly leftOut: readonly string[];
  /** By key: how many names the local disk refused. A note in its results lists them. */
  readonly renamed: ReadonlyMap<string, number>;
  /** By key: paths of its results that were not collected; directories end in "/". */
  readonly missing: ReadonlyMap<string, readonly string[]>;
}

const NOTHING_MISSING: SentReport = { unread: [], partial: [] };
/** The limit for the names of unreadable files on stderr, because the machine is not trusted. */
const REPORT_CHARACTERS = 64 << 20;

/** `begun`: the same request, made in advance; null: it is made now. */
export async function collect(
  session: Session,
  collection: Collection,
  begun: Running | null = null,
): Promise<Collected> {
  const { jobs, into, signal, onProgress } = collection;
  signal.throwIfAborted();
  const running = begun ?? (await session.exec(collectScript(collection)));
  running.stdin.end();
  const abort = () => running.close();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const stderr = gatherTail(running.stderr, REPORT_CHARACTERS);
  try {
    const keys = new Set(jobs.map(({ key }) => key));
    const rules = { allows: (top: string) => keys.has(top), keeps: isExit };
    let bytes = 0;
    running.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      onProgress?.(bytes);
    });
    const unpacked = await unpack(running.stdout, into, rules).catch((error: unknown) => error);
    // If the stream is complete but something is missing, its sender may report why.
    const report = running.stdout.readableEnded ? await expectSent(running, stderr) : NOTHING_MISSING;
    signal.throwIfAborted();
    if (unpacked instanceof Error) throw unpacked;
    const { written, leftOut, renamed, untaken, kept } = unpacked as Unpacked;
    checkReported([...report.unread, ...report.partial], keys);
    removePartial(into, report.partial);
    const missing = byJob([...report.unread, ...report.partial, ...untaken], keys);
    return { outcomes: readOutcomes(kept, keys), written, leftOut, renamed, missing };
  } finally {
    signal.removeEventListener("abort", abort);
    running.close();
  }
}

/** A request for results of a job that may not have ended, nor arrived. It ends without output if that takes long. */
export function collectWhenEnded(session: Session, request: Request): Promise<Running> {
  const [{ key } = { key: "" }] = request.jobs;
  return session.exec(`${prelude(request.place)}
tries=0
until { read -r _ <"$spool/jobs/${key}/exit"; } 2>/dev/null; do
  [ "$tries" -lt 25 ] || exit 0
  tries=$((tries + 1))
  sleep 0.02 2>/dev/null || exit 0
done
${collectScript(request)}`);
}

/** The machine has reported what it sent and what it did not. The end of a stream alone proves nothing. */
async function expectSent(running: Running, stderr: Promise<string>): Promise<SentReport> {
  const end = await running.ended;
  const said = end.kind === "lost" ? end.reason : await stderr;
  const report = parseSentReport(said);
  if (report === null) throw remoteErrorFrom("collecting results", said.split("\0")[0] ?? "");
  return report;
}

/** Only results may be missing: a job without its own files cannot be collected. */
function byJob(names: readonly string[], keys: ReadonlySet<string>): Map<string, string[]> {
  const paths = new Map<string, string[]>();
  for (const name of names) {
    const [, key = "", below = "./"] = /^([^/]+)\/work\/(.+)?$/s.exec(name) ?? [];
    if (!keys.has(key)) throw new RemoteError(`${JSON.stringify(name)} cannot be read on the machine`);
    paths.set(key, [...(paths.get(key) ?? []), below]);
  }
  return new Map([...paths].map(([key, some]) => [key, nameMissing(some)]));
}

function collectScript(collection: Request): string {
  // GNU tar treats a backslash in a name as an escape. Other tars do not, and lack this option.
  const own = collection.jobs.flatMap(({ copyBack = [], only = [] }) => [...copyBack, ...only]);
  const paths = [...collection.copyBack, ...own];
  const asWritten = paths.some((each) => each.includes("\\"))
    ? "tar --no-unquote --version >/dev/null 2>&1 && as_written=--no-unquote"
    : "";
  return `${listScript(collection)}
if [ $# = 0 ]; then
  echo "they are no longer there: another computer may have collected them" >&2
  exit 1
fi
# A job may leave what even its owner cannot read as it is: directories at once, or what is in them would not be seen.
find "$@" -type d ! -perm -u+rx -exec chmod u+rwx {} \\; -o -type f ! -perm -u+r -exec chmod u+rw {} + </dev/null
as_written=
${asWritten}
${SEND_AND_REPORT}`;
}

/** sh text that sets the arguments to everything that is to be sent. */
export function listScript({ place, jobs, copyBack }: Request): string {
  const wanted = jobs.map(({ key, streams, copyBack: own, only }) => {
    if (only !== undefined)
      return `add_own ${key} ${streams.join(" ")}\nadd_rest ${key} ${only.map(belowJob).join(" ")}`;
    if (own === undefined) return `add ${key} ${streams.join(" ")}`;
    return `add_own ${key} ${streams.join(" ")}\nadd_results ${pathsOf(own)}`;
  });
  return `${prelude(place)}
cd "$spool/jobs" || exit 1
add() {
  add_own "$@"
  add_results ${pathsOf(copyBack)}
}
# Of the job at hand.
add_results() {
  for name; do
    [ -e "$key/$name" ] && printf '%s\\n' "$key/$name"
  done
}
add_own() {
  key=$1
  shift
  for name in exit "$@"; do
    [ -s "$key/$name" ] && printf '%s\\n' "$key/$name"
  done
}
# What cannot be seen may be in a directory that cannot be searched, which then stands for it. Otherwise it is gone.
add_rest() {
  key=$1
  shift
  for name; do
    path=$key/$name
    until [ -e "$path" ] || [ -h "$path" ] || [ "$path" = "$key" ]; do path=\${path%/*}; done
    if [ "$path" = "$key/$name" ] || [ ! -x "$path" ]; then printf '%s\\n' "$path"; fi
  done | sort -u
}
set -f
IFS='
'
set -- $(
${wanted.join("\n")}
)`;
}

function pathsOf(copyBack: readonly string[]): string {
  return outermost(copyBack).map(belowJob).join(" ");
}

/** A path of the results, as one word of sh. */
function belowJob(path: string): string {
  const name = path.replace(/^\.?\/|\/$/g, "");
  return quote(name === "" || name === "." ? "work" : `work/${name}`);
}

/** tar would send a path twice if it is named twice, alone or inside another one. */
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
    if (outcome === null) throw new RemoteError(`the machine did not report how attempt ${key} ended`);
    outcomes.set(key, outcome);
  }
  return outcomes;
}
