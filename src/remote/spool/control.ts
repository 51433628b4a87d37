// The control channel: one long-lived shell per machine that answers requests in order, with no channel opened for each.

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

/** Who follows the batch: we do, or another client, by its name. */
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
  /** Slots that got a new loop, and the last words of the one before. */
  readonly dead: ReadonlyMap<number, string>;
  /** Slots whose loop is another host's, and that host. They are left alone. */
  readonly elsewhere: ReadonlyMap<number, string>;
}

/** Awaited before the next piece is read: a slow disk here slows the sending over there. */
export type OnOutput = (piece: OutputPiece) => Promise<void>;

interface Pending {
  readonly lines: string[];
  readonly onOutput: OnOutput | undefined;
  /** What `onOutput` threw, such as a full disk here: the channel goes on, this request fails. */
  failure: Error | null;
  readonly resolve: (lines: string[]) => void;
  readonly reject: (error: Error) => void;
}

const MAX_OUTPUT_BYTES = 4 << 20;

/** Owns the channel; close() ends it. Requests that are under way when the link goes are rejected. */
export class Control {
  readonly #running: Running;
  readonly #pending: Pending[] = [];
  #isOver = false;
  readonly #stderr: Promise<string>;
  /** Nothing more can be asked. Resolves with the reason; null: the link was lost. */
  readonly ended: Promise<string | null>;

  private constructor(running: Running) {
    this.#running = running;
    this.#stderr = gatherTail(running.stderr);
    this.ended = this.#read()
      .catch((error: Error) => error)
      .then((error) => (error === null ? null : this.#fail(error)));
  }

  static async open(session: Session, place: Place): Promise<Control> {
    return new Control(await session.exec(controlScript(place)));
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

  /** From now on the batch is this client's, until the channel ends. Resolves with the process that holds it. */
  async hold(client: string): Promise<Hold> {
    const lines = await this.#request(`hold ${quote(client)}`);
    const [held = ""] = wordsAfter("held", lines);
    const [, pid = "", host = "", name = ""] = /^(\d+) (\S+) (.+)$/.exec(held) ?? [];
    if (pid !== "") return { isOurs: false, pid: Number(pid), host: host === "-" ? null : host, name };
    return { isOurs: true, pid: Number(wordsAfter("holding", lines)[0]) };
  }

  /** The keys that had not begun are now ours again. */
  async takeBack(keys: readonly string[]): Promise<TakenBack> {
    return parseTakenBack(await this.#request(`take_back ${keys.join(" ")}`));
  }

  /** The keys that were ever taken back. */
  async returned(): Promise<string[]> {
    return wordsAfter("taken", await this.#request("returned"));
  }

  /** The keys of which nothing is there, nor ever was as far as the log knows. */
  async absent(keys: readonly string[]): Promise<string[]> {
    return wordsAfter("absent", await this.#request(`absent ${keys.join(" ")}`));
  }

  /** The keys that had been taken back by a client, and so are not there to be stopped. */
  async stop(keys: readonly string[]): Promise<string[]> {
    return wordsAfter("missed", await this.#request(`stop ${keys.join(" ")}`));
  }

  /** Tells the client that follows the batch to stop all of it. */
  async halt(): Promise<void> {
    await this.#request("halt");
  }

  /** Slots whose loop was killed, or went down with the machine, get a new one. */
  async tend(): Promise<Tended> {
    const lines = await this.#request("tend");
    return {
      dead: textsBySlot(wordsAfter("dead", lines)),
      elsewhere: textsBySlot(wordsAfter("elsewhere", lines)),
    };
  }

  /** The event logs that there are; null: the spool is not where it was. */
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

  /** Which of the attempts have directories there; null: the slots of this spool could not go on in them. */
  async findKept(keys: readonly string[]): Promise<string[] | null> {
    const lines = await this.#request(`find_kept ${keys.join(" ")}`);
    return lines.includes("unable") ? null : wordsAfter("kept", lines);
  }

  /** The directories of these attempts stay. Resolves with how many bytes each has; those that have none are left out. */
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

  /** Resolves with why there is no more to read; null: the link was lost. */
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

/** After a failure the rest is only read past. */
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

const SPOOL_GONE = "what was handed over is not there any more";

function controlScript(place: Place): string {
  return `${prelude(place)}
cd "$spool" 2>/dev/null || { echo "${SPOOL_GONE}" >&2; exit 1; }
${runtimeFile("lib.sh")}
. ./settings
${runtimeFile("logs.sh")}
${runtimeFile("control.sh")}
serve
`;
}
