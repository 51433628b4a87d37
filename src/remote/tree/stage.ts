// Puts a tree onto a machine. Content that the machine already has is not sent again, neither the same tree nor the
// shared part of an earlier one.

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Running, Session } from "../../transport/session.js";
import { gatherTail } from "../engine/gather-tail.js";
import { type Place, prelude } from "../engine/layout.js";
import { shortLines } from "../engine/line-limit.js";
import { RemoteError, remoteErrorFrom } from "../engine/remote-error.js";
import { runtimeFile } from "../runtime-files.js";
import { type Cargo, FileChanged } from "./cargo.js";
import { isSlow } from "./compressing.js";
import { type Shipment, type Shipping, shippingOf } from "./shipping.js";
import type { Tree } from "./tree.js";

export interface StageOptions {
  readonly place: Place;
  readonly tree: Tree;
  readonly signal: AbortSignal;
  /** Nothing is sent before this resolves; the machine is only asked what it has. Absent: at once. */
  readonly goAhead?: Promise<void>;
  /** Called with the file bytes that are about to be sent; if it rejects, staging rejects. Absent: everything is sent. */
  readonly allow?: (bytes: number) => Promise<void>;
  /** Called with the file bytes sent so far and in total, first with 0. */
  readonly onProgress: (sentBytes: number, totalBytes: number) => void;
}

/** Resolves with true if anything had to be sent. Rejects with FileChanged if a file has changed since it was hashed. */
export async function stage(session: Session, options: StageOptions): Promise<boolean> {
  const { signal } = options;
  signal.throwIfAborted();
  const running = await session.exec(stageScript(options));
  const abort = () => running.close();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const stderr = gatherTail(running.stderr);
  let sending: Promise<unknown> = Promise.resolve();
  try {
    const last = await converse(running, session, options, (sent) => {
      sending = sent;
      sent.catch(() => {}); // awaited below, after the machine has answered
    });
    const end = await running.ended;
    signal.throwIfAborted();
    // The local reason (a file changed) is clearer than the machine's "unexpected end of archive".
    await sending;
    if (last === "have" || last === "staged") return last === "staged";
    throw remoteErrorFrom("copying the working directory", end.kind === "lost" ? end.reason : await stderr);
  } finally {
    signal.removeEventListener("abort", abort);
    running.close();
  }
}

/** Resolves with the machine's last answer. */
async function converse(
  running: Running,
  session: Session,
  { tree, signal, goAhead, allow, onProgress }: StageOptions,
  onSending: (sending: Promise<unknown>) => void,
): Promise<string> {
  const shipping = shippingOf(tree);
  const bases: string[] = [];
  const whole = await shipping.whole();
  let chosen = whole;
  let canUnzip = false;
  let isZipped = false;
  let last = "";
  for await (const line of shortLines(running.stdout, "copying the working directory: it")) {
    last = line;
    const [word, hash = ""] = line.split(" ");
    if (word === "base" && shipping.bases.includes(hash)) bases.push(hash);
    if (word === "unzips") canUnzip = true;
    if (word === "ready") {
      await goAhead;
      chosen = await shipping.choose(bases);
      await allow?.(chosen.cargo.bytes);
      isZipped = canUnzip && chosen.cargo.shrinks && (await isSlow(session, signal));
      running.stdin.write(orderText(chosen, shipping, isZipped));
    }
    if (word === "want") await allow?.(whole.cargo.bytes);
    const isWhole = word === "want" || (word === "ready" && chosen.from === null);
    if (isWhole) onSending(send(running, whole.cargo, { isZipped, onProgress }));
    if (word === "rest") onSending(send(running, chosen.cargo, { isZipped, onProgress }));
  }
  return last;
}

/** One line, then the names to remove, up to an empty line. */
function orderText({ cargo, from }: Shipment, { tree }: Shipping, isZipped: boolean): string {
  const form = isZipped ? "gzip" : "plain";
  const wholeKb = Math.ceil(tree.bytes / 1024);
  if (from === null) return `whole - 0 ${wholeKb} ${wholeKb} ${form}\n`;
  const order = `from ${from.hash} ${from.kept} ${Math.ceil(cargo.bytes / 1024)} ${wholeKb} ${form}\n`;
  return `${order}${from.removed.map((path) => `${escapeName(`./${path}`)}\n`).join("")}\n`;
}

/** For `printf %b`. */
function escapeName(name: string): string {
  const toOctal = (letter: string) => `\\0${letter.charCodeAt(0).toString(8).padStart(3, "0")}`;
  return Buffer.from(name)
    .toString("latin1")
    .replace(/[^\w./-]/g, toOctal);
}

function stageScript({ place, tree }: StageOptions): string {
  const shipping = shippingOf(tree);
  return `${prelude(place)}
tree=$root/trees/${tree.hash}
bases='${shipping.bases.join(" ")}'
mark=${shipping.wholeMark}
${runtimeFile("stage.sh")}
stage 3<&0 </dev/null
`;
}

interface Sending extends Pick<StageOptions, "onProgress"> {
  readonly isZipped: boolean;
}

async function send(running: Running, cargo: Cargo, { isZipped, onProgress }: Sending): Promise<void> {
  let sent = 0;
  onProgress(0, cargo.bytes);
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const { data, bytes } of cargo.stream(isZipped)) {
      yield data;
      sent += bytes;
      onProgress(Math.min(sent, cargo.bytes), cargo.bytes);
    }
  };
  try {
    await pipeline(Readable.from(counted(), { objectMode: false, highWaterMark: 1 << 20 }), running.stdin);
  } catch (error) {
    if (isBrokenPipe(error)) return; // The machine ended first, or already has the tree; its answer tells which.
    running.close();
    if (error instanceof FileChanged) throw error;
    throw new RemoteError((error as Error).message, "run the same command again", { cause: error });
  }
}

function isBrokenPipe(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET", "ERR_STREAM_DESTROYED"].includes(code);
}
