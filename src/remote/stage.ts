// Makes a tree stand on a machine. Content that is already there is not sent again.

import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Running, Session } from "../transport/session.js";
import { gatherTail } from "./gather-tail.js";
import { type Place, prelude } from "./layout.js";
import { type PackEntry, pack } from "./pack.js";
import { RemoteError, remoteErrorFrom } from "./remote-error.js";
import { packTree, type Tree } from "./tree.js";

export interface StageOptions {
  readonly place: Place;
  readonly tree: Tree;
  readonly signal: AbortSignal;
  /** Called with the file bytes sent so far. */
  readonly onProgress: (sentBytes: number) => void;
}

/** Resolves with whether anything had to be sent. */
export async function stage(session: Session, options: StageOptions): Promise<boolean> {
  const { tree, signal } = options;
  signal.throwIfAborted();
  const running = await session.exec(stageScript(options));
  const abort = () => running.close();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const stderr = gatherTail(running.stderr);
  const answers = createInterface({ input: running.stdout });
  let last = "";
  let sending: Promise<unknown> = Promise.resolve();
  try {
    for await (const line of answers) {
      last = line;
      if (last !== "want") continue;
      sending = send(running, tree, options.onProgress);
      sending.catch(() => {}); // looked at below, once the far end has had its say
    }
    const end = await running.ended;
    signal.throwIfAborted();
    // Our own reason (a file changed) explains more than the far end's "unexpected end of archive".
    await sending;
    if (last === "have" || last === "staged") return last === "staged";
    throw remoteErrorFrom("copying the working directory", end.kind === "lost" ? end.reason : await stderr);
  } finally {
    signal.removeEventListener("abort", abort);
    running.close();
  }
}

function stageScript({ place, tree }: StageOptions): string {
  return `${prelude(place)}
tree=$root/trees/${tree.hash}
incoming=$root/trees/incoming.$$
whole=$incoming/${wholeMark(tree)}
# To tar an archive that breaks off between two files is no error.
is_whole() {
  [ -e "$whole" ] || { echo "only a part of it arrived" >&2; return 1; }
  rm -f "$whole"
}
stage() {
  command -v tar >/dev/null || { echo "there is no tar over there" >&2; return 1; }
  mkdir -p "$root/trees" || return 1
  if [ -d "$tree" ]; then touch "$tree"; echo have; return; fi
  free_kb=$(df -Pk "$root" | tail -n 1 | { read -r _ _ _ free _; echo "$free"; })
  case $free_kb in
    '' | *[!0-9]*) ;;
    *) [ "$free_kb" -ge ${Math.ceil(tree.bytes / 1024)} ] ||
      { echo "not enough space: ${Math.ceil(tree.bytes / 1048576)} MB to copy, $((free_kb / 1024)) MB free in $root" >&2
        return 1; } ;;
  esac
  echo want
  mkdir "$incoming" && tar -xpof - -C "$incoming" <&3 && is_whole || { rm -rf "$incoming"; return 1; }
  # -T: into place, never into a tree that another client finished meanwhile.
  mv -T "$incoming" "$tree" 2>/dev/null || [ -d "$tree" ] || mv "$incoming" "$tree" || return 1
  rm -rf "$incoming"
  echo staged
}
stage 3<&0 </dev/null
`;
}

/** The last entry of the archive; no file of the user's can have a name with the hash of its own content. */
function wholeMark(tree: Tree): string {
  return `.whole-${tree.hash}`;
}

function* packWhole(tree: Tree): Generator<PackEntry> {
  yield* packTree(tree);
  yield { type: "File", path: wholeMark(tree), mode: 0o600, size: 0, content: Buffer.alloc(0) };
}

async function send(running: Running, tree: Tree, onProgress: (sentBytes: number) => void): Promise<void> {
  let sent = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of pack(packWhole(tree))) {
      yield chunk;
      sent += chunk.length;
      onProgress(Math.min(sent, tree.bytes));
    }
  };
  try {
    await pipeline(Readable.from(counted(), { objectMode: false, highWaterMark: 1 << 20 }), running.stdin);
  } catch (error) {
    running.close();
    if (isBrokenPipe(error)) return; // The far end gave up first; what it said tells why.
    throw new RemoteError((error as Error).message, "run the same command again", { cause: error });
  }
}

function isBrokenPipe(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET", "ERR_STREAM_DESTROYED"].includes(code);
}
