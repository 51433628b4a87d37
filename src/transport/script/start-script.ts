// Turns a channel in which the fixed words run into a running script. Sends the script, and removes the output of
// start-up files from its stdout. A login shell that did something else never counts as a success.

import { randomBytes } from "node:crypto";
import { type Readable, Transform, type TransformCallback } from "node:stream";
import { deferred } from "../deferred.js";
import type { ExecEnd, Running } from "../session.js";
import { scriptLines, startMarker } from "./bootstrap.js";

const BUFFER_BYTES = 1024 * 1024;
const KEPT_NOISE_BYTES = 4096;

export function startScript(channel: Running, script: string): Running {
  const nonce = makeNonce();
  channel.stdin.on("error", () => {}); // EPIPE: the end of the script tells more
  channel.stdin.write(scriptLines(script, nonce));
  return afterMarker(channel, nonce).running;
}

export function makeNonce(): string {
  return randomBytes(8).toString("hex");
}

/** For a channel with a script that needs nothing of stdin. Null: it did not begin. */
export async function awaitScript(channel: Running, nonce: string): Promise<Running | null> {
  // A shell that ignores the words would wait for more.
  channel.stdin.end();
  const { running, stdout } = afterMarker(channel, nonce);
  await stdout.isKnown;
  if (stdout.hasBegun) return running;
  running.close();
  return null;
}

function afterMarker(channel: Running, nonce: string): { running: Running; stdout: AfterMarker } {
  const stdout = new AfterMarker(startMarker(nonce));
  const stderr = new WithExplanation(stdout);
  const cuts = [join(channel.stdout, stdout), join(channel.stderr, stderr)];
  const close = () => {
    channel.close();
    for (const cut of cuts) cut();
  };
  const ended = channel.ended.then((end) => judge(end, stdout.hasBegun));
  const running = {
    stdin: channel.stdin,
    stdout,
    stderr,
    ended,
    close,
    get noise() {
      return stdout.noise.toString();
    },
  };
  return { running, stdout };
}

/** A consumer that stops reading must neither block the script nor keep its channel open. */
function join(from: Readable, to: Transform): () => void {
  const cut = () => {
    from.unpipe(to);
    from.resume();
    to.end();
  };
  from.once("error", cut).once("close", cut);
  to.once("close", cut);
  from.pipe(to);
  return cut;
}

/** An exit code 0 although the script did not begin: a forced command, or an account without a shell. */
function judge(end: ExecEnd, hasBegun: boolean): ExecEnd {
  return !hasBegun && end.kind === "exited" && end.code === 0 ? { kind: "exited", code: 127 } : end;
}

/** Passes on the text after the marker. */
class AfterMarker extends Transform {
  hasBegun = false;
  /** The text before it: its beginning, and enough of its end to find a marker that arrives in two pieces. */
  noise: Buffer = Buffer.alloc(0);
  readonly #known = deferred<void>();
  /** Resolves once it is certain whether the script begins. */
  readonly isKnown = this.#known.promise;
  readonly #marker: Buffer;

  constructor(marker: string) {
    super({ highWaterMark: BUFFER_BYTES });
    this.#marker = Buffer.from(marker);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(null, this.hasBegun ? chunk : this.#search(chunk));
  }

  #search(chunk: Buffer): Buffer {
    const said = Buffer.concat([this.noise, chunk]);
    const at = said.indexOf(this.#marker);
    if (at < 0) {
      this.noise = shorten(said, this.#marker.length);
      return EMPTY;
    }
    this.hasBegun = true;
    this.noise = said.subarray(0, Math.min(at, KEPT_NOISE_BYTES));
    this.#known.resolve();
    return said.subarray(at + this.#marker.length);
  }

  override _flush(done: TransformCallback): void {
    this.#known.resolve();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#known.resolve();
    done(error);
  }
}

const EMPTY: Buffer = Buffer.alloc(0);

function shorten(said: Buffer, tailBytes: number): Buffer {
  if (said.length <= KEPT_NOISE_BYTES + tailBytes) return said;
  return Buffer.concat([said.subarray(0, KEPT_NOISE_BYTES), said.subarray(-tailBytes)]);
}

/** stderr, and at its end what the machine printed on stdout instead of running the script. */
class WithExplanation extends Transform {
  readonly #stdout: AfterMarker;

  constructor(stdout: AfterMarker) {
    super({ highWaterMark: BUFFER_BYTES });
    this.#stdout = stdout;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    void this.#stdout.isKnown.then(() => {
      const said = this.#stdout.noise.toString().trim();
      if (this.#stdout.hasBegun || said === "") done();
      else done(null, Buffer.from(`the login shell did not start sh, it printed: ${said}\n`));
    });
  }
}
