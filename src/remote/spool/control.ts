// The control channel: one long-lived shell per machine that answers requests in order, without a new channel per
// request.

import { quote } from "../../transport/quote.js";
import type { Running, Session } from "../../transport/session.js";
import { gatherTail } from "../engine/gather-tail.js";
import { type Place, prelude } from "../engine/layout.js";
import { RemoteError, remoteErrorFrom } from "../engine/remote-error.js";
import { wordsAfter } from "../engine/words-after.js";
import { runtimeFile } from "../runtime-files.js";
import { type OutputPiece, readControl } from "./control-stream.js";
import { parseLogs } from "./follow.js";
import { OVERLAP_BYTES } from "./fresh-output.js";
import { type OutputLook, parseOutputLook, type StreamName } from "./output-look.js";
import { END_BYTES, parseEnds } from "./stream-ends.js";
import { parseTakenBack, type TakenBack } from "./take-back.js";

export interface OutputPosition extends StreamName {
  readonly offset: number;
}

/** Who follows the batch: this client, or another client, by its name. */
export type Hold =
  | { readonly isOurs: true; readonly pid: number }
  | {
      readonly isOurs: false;
      readonly pid: number;
      /** Null: this machine. */
      readonly host: string | null;
      readonly name: string;
    };

export interface Tended {
  /** Slots that got a new loop, with the last messages of the previous loop. */
  readonly dead: ReadonlyMap<number, string>;
  /** Slots whose loop runs on another host, with that host. They are not touched. */
  readonly elsewhere: ReadonlyMap<number, string>;
}

/** Awaited before the next piece is read, so a slow local disk slows the sender. */
export type OnOutput = (piece: OutputPiece) => Promise<void>;

interface Pending {
  readonly lines: string[];
  readonly onOutput: OnOutput | undefined;
  /** What `onOutput` threw, such as a full local disk: this request fails, and the channel stays open. */
  failure: Error | null;
  readonly resolve: (lines: string[]) => void;
  readonly reject: (error: Error) => void;
}

const MAX_OUTPUT_BYTES = 4 << 20;

/** Owns the channel; close() ends it. Requests in progress are rejected when the connection is lost. */
export class Control {
  readonly #running: Running;
  readonly #pending: Pending[] = [];
  #isOver = false;
  readonly #stderr: Promise<string>;
  /** Resolves when no more requests are possible, with the reason; null: the connection was lost. */
  readonly ended: Promise<string | null>;

  private constructor(running: Running) {
    this.#running = running;
    this.#stderr = gatherTail(running.stderr);
    this.ended = this.#read()
      .catch((error: Error) => error)
      .then((error) => (error === null ? null : this.#fail(error)));
  }

  /** `awaitsSpool`: jobs are on their way to it. Requests fail if the spool is not there within some seconds. */
  static async open(session: Session, place: Place, awaitsSpool = false): Promise<Control> {
    return new Control(await session.exec(controlScript(place, awaitsSpool)));
  }

  /**
   * Passes on what is there beyond the positions, a few MB of each at most, after some bytes from before them. `surely`:
   * these also where nothing is new.
   */
  async readOutput(
    positions: readonly OutputPosition[],
    onOutput: OnOutput,
    surely = false,
  ): Promise<OutputLook> {
    const words = positions.map(({ key, stream, offset }) => `${key} ${stream} ${offset}`);
    const how = `${MAX_OUTPUT_BYTES} ${OVERLAP_BYTES} ${surely ? 1 : 0}`;
    const lines = await this.#request(`output ${how} ${words.join(" ")}`, onOutput);
    return parseOutputLook(lines);
  }

  /** The last lines of a stream, by attempt, of those that have it. Null: one of several has changed meanwhile. */
  async readEnds(keys: readonly string[], stream: "out" | "err"): Promise<Map<string, string> | null> {
    let bytes: Buffer = Buffer.alloc(0);
    const words = keys.map((key) => `${key} ${stream}`);
    const lines = await this.#request(`ends ${END_BYTES} ${words.join(" ")}`, async (piece) => {
      bytes = Buffer.concat([bytes, piece.bytes]);
      if (bytes.length > keys.length * END_BYTES) throw new RemoteError("it sent more than it was asked for");
    });
    return keys.length > 1 && lines.includes("changed") ? null : parseEnds(lines, bytes);
  }

  /** Makes this client the one that follows the batch, until the channel ends. Resolves with the process that holds it. */
  async hold(client: string): Promise<Hold> {
    const lines = await this.#request(`hold ${quote(client)}`);
    const [held = ""] = wordsAfter("held", lines);
    const [, pid = "", host = "", name = ""] = /^(\d+) (\S+) (.+)$/.exec(held) ?? [];
    if (pid !== "") return { isOurs: false, pid: Number(pid), host: host === "-" ? null : host, name };
    return { isOurs: true, pid: Number(wordsAfter("holding", lines)[0]) };
  }

  /** Takes back the keys that had not begun. */
  async takeBack(keys: readonly string[]): Promise<TakenBack> {
    return parseTakenBack(await this.#request(`take_back ${keys.join(" ")}`));
  }

  /** The keys that were ever taken back. */
  async returned(): Promise<string[]> {
    return wordsAfter("taken", await this.#request("returned"));
  }

  /** The keys of which the machine has nothing, and never had, as far as the log shows. */
  async absent(keys: readonly string[]): Promise<string[]> {
    return wordsAfter("absent", await this.#request(`absent ${keys.join(" ")}`));
  }

  /** Stops the keys. Resolves with those that a client had taken back before. */
  async stop(keys: readonly string[]): Promise<string[]> {
    return wordsAfter("missed", await this.#request(`stop ${keys.join(" ")}`));
  }

  /** Asks the client that follows the batch to stop all of it. */
  async halt(): Promise<void> {
    await this.#request("halt");
  }

  /** Starts a new loop for each slot whose loop was killed or ended with the machine. */
  async tend(): Promise<Tended> {
    const lines = await this.#request("tend");
    return {
      dead: textsBySlot(wordsAfter("dead", lines)),
      elsewhere: textsBySlot(wordsAfter("elsewhere", lines)),
    };
  }

  /** The existing event logs; null: the spool no longer exists. */
  async look(): Promise<string[] | null> {
    const line = (await this.#request("look")).find((each) => /^logs\b/.test(each));
    return line === undefined ? null : parseLogs(line);
  }

  /** From now on no slot takes another job. */
  async drain(): Promise<void> {
    await this.#request("drain");
  }

  /** Slots take jobs again. */
  async undrain(): Promise<void> {
    await this.#request("undrain");
  }

  /** The attempts whose directories exist; null: the slots of this spool could not continue in them. */
  async findKept(keys: readonly string[]): Promise<string[] | null> {
    const lines = await this.#request(`find_kept ${keys.join(" ")}`);
    return lines.includes("unable") ? null : wordsAfter("kept", lines);
  }

  /**
   * Keeps the directories of these attempts. Resolves with the size of each in bytes, except attempts without a
   * directory.
   */
  async noteKept(keys: readonly string[]): Promise<Map<string, number>> {
    const lines = wordsAfter("keeps", await this.#request(`note_kept ${keys.join(" ")}`));
    return new Map(
      lines.map((line) => {
        const [key = "", kb = ""] = line.split(" ");
        return [key, Number(kb) * 1024];
      }),
    );
  }

  async free(keys: readonly string[]): Promise<void> {
    await this.#request(`free ${keys.join(" ")}`);
  }

  close(): void {
    this.#running.stdin.end();
    this.#running.close();
  }

  #request(line: string, onOutput?: OnOutput): Promise<string[]> {
    if (this.#isOver) return Promise.reject(new RemoteError("the connection was lost"));
    return new Promise((resolve, reject) => {
      this.#pending.push({ lines: [], onOutput, failure: null, resolve, reject });
      this.#running.stdin.write(`${line}\n`);
    });
  }

  /** Resolves with the reason why there is no more to read; null: the connection was lost. */
  async #read(): Promise<Error | null> {
    for await (const item of readControl(this.#running.stdout)) {
      const current = this.#pending[0];
      if (current === undefined) continue;
      if (item.kind === "output") await passOn(item, current);
      else if (!/^end \d+$/.test(item.text)) current.lines.push(item.text);
      else {
        this.#pending.shift();
        if (current.failure === null) current.resolve(current.lines);
        else current.reject(current.failure);
      }
    }
    const how = await this.#running.ended;
    if (how.kind !== "lost") return remoteErrorFrom("the control channel", await this.#stderr);
    this.#fail(new RemoteError(how.reason));
    return null;
  }

  #fail(error: Error): string {
    this.#isOver = true;
    for (const { reject } of this.#pending.splice(0)) reject(error);
    return error.message;
  }
}

/** After a failure the rest is read and ignored. */
async function passOn(piece: OutputPiece, request: Pending): Promise<void> {
  if (request.failure !== null) return;
  await request.onOutput?.(piece).catch((error: Error) => {
    request.failure = error;
  });
}

function textsBySlot(lines: readonly string[]): Map<number, string> {
  const matches = lines.map((line) => /^(\d+) ?(.*)$/.exec(line));
  return new Map(matches.map((match) => [Number(match?.[1]), match?.[2] ?? ""]));
}

const SPOOL_GONE = "it no longer has the jobs that were handed over";

function controlScript(place: Place, awaitsSpool: boolean): string {
  return `${prelude(place)}
${runtimeFile("logs.sh")}
${awaitsSpool ? "await_spool\n" : ""}cd "$spool" 2>/dev/null || { echo "${SPOOL_GONE}" >&2; exit 1; }
${runtimeFile("lib.sh")}
. ./settings
${runtimeFile("control.sh")}
serve
`;
}
