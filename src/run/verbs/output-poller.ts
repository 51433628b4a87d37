// Asks a machine about once per second for new output of its running jobs, and writes it to job_results/.

import { parseAttemptKey } from "../../model/attempt-key.js";
import { isAtProcessLimit, PROCESS_LIMIT_HINT } from "../../remote/engine/remote-error.js";
import type { OutputPosition, Tended } from "../../remote/spool/control.js";
import type { OutputPiece } from "../../remote/spool/control-stream.js";
import type { Beyond } from "../../remote/spool/output-look.js";
import type { OutputFiles } from "../home/output-files.js";
import type { Emit } from "../loop.js";
import type { MachineLink } from "./machine-link.js";

const INTERVAL_MS = 1000;
/** How often slots are checked, in intervals. */
const TEND_EVERY = 10;
/** How often the spool is checked, because `tail` continues to follow a log that was removed. */
const LOOK_EVERY = 3;
const TAIL_BYTES = 2000;
/** A job without --max-output that prints more than this is pointed out. */
const LARGE_BYTES = 1e9;
/** A question that is open for so long is worth a remark, long before the link counts as lost. */
const QUIET_AFTER_MS = 4000;
/** After this many starts in vain, a slot's loop counts as unable to run on the machine. */
const VAIN_STARTS = 3;

type Fetched = NonNullable<Awaited<ReturnType<OutputFiles["begin"]>>>;

/** Owns a timer: call stop(). */
export class OutputPoller {
  readonly #link: MachineLink;
  readonly #outputs: OutputFiles;
  readonly #emit: Emit;
  /** Keys, with the names of their jobs' output files. */
  readonly #watched = new Map<string, string>();
  readonly #lastSaid = new Map<string, string>();
  #polling: Promise<unknown> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;
  #isIdle = true;
  /** When the machine last answered, or was first asked after that. */
  #heardAt = 0;
  #isQuiet = false;
  #ticks = 0;
  /** How often in a row each slot was found without its loop. */
  #vainStarts: ReadonlyMap<number, number> = new Map();
  /** Of streams of which no more comes before the job ends: their sizes on the machine. */
  readonly #sizesBeyond = new Map<string, number>();
  #hasWarned = false;
  /** Other hosts that were found to run slots of this spool. */
  readonly #hosts = new Set<string>();

  constructor(link: MachineLink, outputs: OutputFiles, emit: Emit) {
    this.#link = link;
    this.#outputs = outputs;
    this.#emit = emit;
    this.#timer = setInterval(() => this.#tick(), INTERVAL_MS);
  }

  watch(key: string, name: string): void {
    this.#watched.set(key, name);
  }

  /** The job has ended: its output arrives with its results, or through finish() if a part has already arrived. */
  unwatch(key: string): void {
    this.#watched.delete(key);
  }

  /** Fetches the rest of streams that have begun to arrive, and stops polling them. */
  async finish(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.unwatch(key);
    await this.#polling;
    const begun = () =>
      this.#outputs
        .positions(keys, true)
        .filter(({ key, stream }) => !this.#outputs.untouched(key).includes(stream));
    // Repeats until nothing is new, because a job may have replaced its output by text of the same length.
    while (begun().length > 0 && (await this.#read(begun(), true)));
    for (const key of keys) {
      this.#lastSaid.delete(key);
      for (const stream of ["out", "err"]) this.#sizesBeyond.delete(`${key} ${stream}`);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    if (this.#link.isLost || !this.#link.hasSpool) return;
    if (!this.#isIdle) return this.#noteQuiet();
    this.#isIdle = false;
    this.#heardAt = Date.now();
    this.#polling = this.#poll()
      // Collecting reports a full local disk or a lost connection later.
      .catch(() => undefined)
      .finally(() => {
        this.#isIdle = true;
        if (this.#isQuiet) this.#tellQuiet(null);
      });
  }

  #noteQuiet(): void {
    if (!this.#isQuiet && Date.now() - this.#heardAt >= QUIET_AFTER_MS) this.#tellQuiet(this.#heardAt);
  }

  #tellQuiet(since: number | null): void {
    this.#isQuiet = since !== null;
    this.#emit({ kind: "machine-quiet", machine: this.#link.spec.name, since });
  }

  async #poll(): Promise<void> {
    const tick = this.#ticks++;
    if (tick % LOOK_EVERY === LOOK_EVERY - 1 && !(await this.#look()))
      return this.#link.drop("the batch's directory was removed on the machine");
    if (tick % TEND_EVERY === TEND_EVERY - 1) this.#noteTended(await (await this.#link.control()).tend());
    if (this.#watched.size === 0) return;
    const fetched = new Map<string, Fetched>();
    for (const [key, name] of this.#watched) {
      const last = await this.#outputs.begin(key, name);
      if (last !== null) fetched.set(key, last);
    }
    while (await this.#read(this.#outputs.positions(this.#watched.keys())));
    this.#tellSaid(fetched);
  }

  /** `fetched`: what an earlier client had. It is shown for a job that has printed nothing since. */
  #tellSaid(fetched: ReadonlyMap<string, Fetched>): void {
    const tell = (key: string, text: string, saidAt?: number) =>
      this.#emit({
        kind: "job-said",
        job: parseAttemptKey(key).job,
        text,
        ...(saidAt !== undefined && { saidAt }),
      });
    for (const [key, { text, at }] of fetched) if (!this.#lastSaid.has(key)) tell(key, lastLineOf(text), at);
    for (const [key, text] of this.#lastSaid) tell(key, text);
    this.#lastSaid.clear();
  }

  /** False: the spool is gone. */
  async #look(): Promise<boolean> {
    const logs = await (await this.#link.control()).look();
    if (logs !== null) this.#link.noteLogs(logs);
    return logs !== null;
  }

  #noteTended({ dead, elsewhere }: Tended): void {
    this.#noteDead(dead);
    for (const [slot, host] of elsewhere) {
      if (this.#hosts.has(host)) continue;
      this.#hosts.add(host);
      const message = `${this.#link.spec.name}: slot ${slot} runs on ${host}, and is not touched`;
      this.#emit({ kind: "warning", message });
    }
  }

  /** Waiting jobs go to other machines. The slots are started again for jobs that no other machine takes. */
  #noteDead(dead: ReadonlyMap<number, string>): void {
    this.#vainStarts = new Map([...dead.keys()].map((slot) => [slot, (this.#vainStarts.get(slot) ?? 0) + 1]));
    const [slot] = [...this.#vainStarts].find(([, times]) => times === VAIN_STARTS) ?? [];
    if (slot === undefined) return;
    const said = dead.get(slot) ?? "";
    const reason = `its slots end right after they start${said === "" ? "" : `: ${said}`}`;
    const hint = isAtProcessLimit(said) ? PROCESS_LIMIT_HINT : null;
    this.#emit({ kind: "machine-refused", machine: this.#link.spec.name, jobs: [], reason, hint });
  }

  /** Returns true if there may be more. `surely`: the jobs have ended, and are read until nothing changes. */
  async #read(positions: OutputPosition[], surely = false): Promise<boolean> {
    const control = await this.#link.control();
    const replaced = new Set<string>();
    let bytes = 0;
    const onOutput = async (piece: OutputPiece) => {
      this.#heardAt = Date.now();
      bytes += piece.bytes.length;
      const id = `${piece.key} ${piece.stream}`;
      if (!replaced.has(id) && !(await this.#take(piece))) replaced.add(id);
    };
    const { cut, beyond } = await control.readOutput(positions, onOutput, surely);
    for (const { key, stream } of cut) replaced.add(`${key} ${stream}`);
    const asked = positions.filter(({ key, stream }) => replaced.has(`${key} ${stream}`));
    for (const { key, stream } of asked) {
      const kept = await this.#outputs.restart(key, stream);
      this.#emit({ kind: "output-restarted", ...parseAttemptKey(key), stream, kept });
    }
    for (const each of beyond) this.#noteBeyond(each);
    return surely ? asked.length > 0 || this.#hasMoved(positions) : bytes > TAIL_BYTES * 1000;
  }

  /** What it printed is not here, but its last line is shown. */
  #noteBeyond({ key, stream, size, lastLine }: Beyond): void {
    const id = `${key} ${stream}`;
    const isNews = this.#watched.has(key) && this.#sizesBeyond.get(id) !== size;
    this.#sizesBeyond.set(id, size);
    if (isNews && lastLine !== "") this.#lastSaid.set(key, lastLine);
  }

  #warnOfSize({ key, stream }: OutputPiece): void {
    const name = this.#watched.get(key);
    if (this.#hasWarned || name === undefined || this.#outputs.isLimited(key)) return;
    if (this.#outputs.sizeOf(key, stream) < LARGE_BYTES) return;
    this.#hasWarned = true;
    const message = `${name} has printed more than 1 GB, and all of it is kept; --max-output 100MB keeps the first and the last 50 MB of jobs that start from then on`;
    this.#emit({ kind: "warning", message });
  }

  #hasMoved(positions: readonly OutputPosition[]): boolean {
    const now = this.#outputs.positions(
      positions.map(({ key }) => key),
      true,
    );
    return positions.some(({ key, stream, offset }) =>
      now.some((each) => each.key === key && each.stream === stream && each.offset !== offset),
    );
  }

  async #take(piece: OutputPiece): Promise<boolean> {
    const before = this.#offsetOf(piece);
    const isTaken = await this.#outputs.write(piece);
    this.#warnOfSize(piece);
    const said = lastLineOf(piece.bytes.subarray(-TAIL_BYTES).toString("utf8"));
    // Some bytes arrive twice and are not new.
    if (said !== "" && this.#offsetOf(piece) !== before) this.#lastSaid.set(piece.key, said);
    return isTaken;
  }

  #offsetOf({ key, stream }: OutputPiece): number | undefined {
    return this.#outputs.positions([key], true).find((each) => each.stream === stream)?.offset;
  }
}

function lastLineOf(output: string): string {
  const text = output.trimEnd();
  return text.slice(Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1);
}
