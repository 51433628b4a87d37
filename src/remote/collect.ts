// Brings what ended jobs left: many jobs in one stream, into a directory of ours. Frees nothing.

import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Outcome } from "../model/job.js";
import { quote } from "../transport/quote.js";
import type { Session } from "../transport/session.js";
import { type Place, prelude } from "./layout.js";
import { RemoteError, remoteErrorFrom } from "./remote-error.js";
import { parseExit } from "./spool-event.js";
import { unpack } from "./unpack.js";

export interface Collection {
  readonly place: Place;
  readonly jobs: readonly CollectedJob[];
  /** Paths below the job's directory; "." is all of it. */
  readonly copyBack: readonly string[];
  /** Fresh and empty; gets `<key>/{exit,out,err,work/}`. The caller's to remove when this rejects. */
  readonly into: string;
  readonly signal: AbortSignal;
}

export interface CollectedJob {
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
  const { jobs, into, signal } = collection;
  const running = await session.exec(collectScript(collection));
  running.stdin.end();
  const abort = () => running.close();
  signal.addEventListener("abort", abort, { once: true });
  let stderr = "";
  running.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-4096);
  });
  try {
    const keys = new Set(jobs.map(({ key }) => key));
    const { written, leftOut } = await unpack(running.stdout, into, (top) => keys.has(top));
    const end = await running.ended;
    signal.throwIfAborted();
    // tar has said that it sent everything; a stream that merely ended proves nothing.
    if (!/(^|\n)sent everything\n/.test(stderr)) {
      throw remoteErrorFrom("collecting results", end.kind === "lost" ? end.reason : stderr);
    }
    return { outcomes: await readOutcomes(into, keys), written, leftOut };
  } finally {
    signal.removeEventListener("abort", abort);
    running.close();
  }
}

function collectScript({ place, jobs, copyBack }: Collection): string {
  const wanted = jobs.map(({ key, streams }) => `add ${key} ${streams.join(" ")}`).join("\n");
  const paths = copyBack.map((each) => quote(each === "." ? "work" : `work/${each}`)).join(" ");
  return `${prelude(place)}
cd "$spool/jobs" || exit 1
add() {
  key=$1
  shift
  for name in exit "$@" ${paths}; do
    [ -e "$key/$name" ] && printf '%s\\n' "$key/$name"
  done
}
set -f
IFS='
'
set -- $(
${wanted}
)
# A job may leave files that even their owner cannot read as they are.
find "$@" ! -type l ! -perm -u+r -exec chmod u+rw {} + </dev/null
tar -cf - "$@" </dev/null && echo "sent everything" >&2
`;
}

async function readOutcomes(into: string, keys: ReadonlySet<string>): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  for (const key of keys) {
    const text = await readFile(path.join(into, key, "exit"), "utf8").catch(() => "");
    const outcome = parseExit(text.trimEnd());
    if (outcome === null) throw new RemoteError(`it does not say how attempt ${key} ended`);
    outcomes.set(key, outcome);
  }
  return outcomes;
}
