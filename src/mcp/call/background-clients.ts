// Clients of batches that go on when a tool has answered, and when the MCP server has ended: they hand over jobs, collect
// results, and retry. What they report is remembered for the next answers.

import { spawn } from "node:child_process";
import { shrink } from "../answer/shrink.js";
import { type OwnCommand, OwnOutput, type Row } from "./own-command.js";

/** Events that an answer repeats: something that a caller should know. */
const NEWS = new Set([
  "warning",
  "machine-failed",
  "machine-lost",
  "machine-back",
  "machine-set-aside",
  "machine-refused",
  "same-crash",
  "halted",
  "paused",
  "jobs-left-out",
  "job-refused",
  "job-stuck",
]);
const MOST_NEWS = 8;
const NEWS_BYTES = 600;
/** A machine has answered. */
const UNDER_WAY = new Set(["machine-ready", "job-started"]);
/** Of each directory, in answers. */
const MOST_SHOWN = 3;
/** Ended ones are forgotten first. */
const MOST_KEPT = 100;

export class BackgroundClients {
  #clients: BackgroundClient[] = [];

  start(order: Omit<OwnCommand, "onRow" | "signal" | "stdin">): BackgroundClient {
    const client = new BackgroundClient(order);
    const kept = this.#clients.filter((each, at) => !each.hasEnded || at >= this.#clients.length - MOST_KEPT);
    this.#clients = [...kept, client];
    return client;
  }

  /** What the latest of the directory report. One that has ended reports that once. */
  report(directory: string): Row[] {
    return this.#clients
      .filter((client) => client.directory === directory && client.hasNews)
      .slice(-MOST_SHOWN)
      .map((client) => client.report());
  }
}

export class BackgroundClient {
  readonly directory: string;
  /** The event run-started; null: it ended without one. */
  readonly begun: Promise<Row | null>;
  readonly ended: Promise<number | null>;
  /** A machine has answered, or it has ended. */
  readonly underWay: Promise<void>;
  hasEnded = false;
  /** Called when a job of the batch has ended, with how many so far. */
  onJobEnd: (count: number) => void = () => {};
  /** Objects that are no events, such as those of jobs of queues. */
  readonly rows: Row[] = [];
  readonly news: Row[] = [];
  readonly #pid: number | null;
  readonly #words: readonly string[];
  readonly #output: OwnOutput;
  readonly #over = new Set<unknown>();
  #exitCode: number | null = null;
  #isReported = false;

  constructor({ host, words, directory, env }: Omit<OwnCommand, "onRow">) {
    this.directory = directory;
    this.#words = words;
    let begin: (row: Row | null) => void = () => {};
    this.begun = new Promise((done) => {
      begin = done;
    });
    let go = () => {};
    this.underWay = new Promise((done) => {
      go = done;
    });
    this.#output = new OwnOutput((row) => {
      if (row.kind === "run-started") begin(withoutCommands(row));
      if (typeof row.kind === "string" && UNDER_WAY.has(row.kind)) go();
      this.#note(row);
    });
    const [node = "", ...script] = host.program;
    // Of its own session: signals for the MCP server, and the end of its terminal, do not reach it.
    const child = spawn(node, [...script, ...words], {
      cwd: directory,
      env: { ...host.env, ...env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.unref();
    this.#pid = child.pid ?? null;
    this.#output.readRows(child.stdout);
    this.#output.readNotes(child.stderr);
    this.ended = new Promise((done, fail) => {
      child.once("error", fail);
      child.once("close", (code) => {
        this.hasEnded = true;
        this.#exitCode = code;
        begin(null);
        go();
        done(code);
      });
    });
    this.ended.catch(() => {
      begin(null);
      go();
    });
  }

  get error() {
    return this.#output.error;
  }

  get hasNews(): boolean {
    return !this.#isReported;
  }

  report(): Row {
    this.#isReported = this.hasEnded;
    const { error, notes } = this.#output;
    return {
      command: shortened(this.#words),
      pid: this.#pid,
      state: this.hasEnded ? "ended" : "following",
      ...(this.hasEnded && { exitCode: this.#exitCode }),
      ...(error !== null && { error: error.message, hint: error.hint ?? null }),
      ...(this.news.length > 0 && { news: this.news }),
      ...(this.hasEnded && notes.length > 0 && { notes: notes.slice(-3) }),
    };
  }

  #note(row: Row): void {
    if (row.kind === "job-acted") this.rows.push(row);
    if (row.kind === "job-ended" || row.kind === "job-skipped") {
      this.#over.add(row.job);
      this.onJobEnd(this.#over.size);
    }
    if (typeof row.kind !== "string" || !NEWS.has(row.kind)) return;
    this.news.push(shrink(row, NEWS_BYTES));
    if (this.news.length > MOST_NEWS) this.news.shift();
  }
}

/** A batch can have a million jobs with long commands. */
function withoutCommands({ batch, script, jobs, machines }: Row): Row {
  const names = Array.isArray(jobs) ? jobs.map(({ id, name }: Row) => ({ job: id, name })) : [];
  return { batch, script, jobs: names, machines };
}

function shortened(words: readonly string[]): string {
  const text = ["sshoal", ...words.filter((word) => word !== "--json" && word !== "--")].join(" ");
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
