// The tool `status`: how far jobs are. With a cursor, only what is new or has changed since.

import { setTimeout as pause } from "node:timers/promises";
import { RowWindow } from "../answer/row-window.js";
import { whole, word } from "../call/arguments.js";
import { DIRECTORY, directoryOf } from "../call/host.js";
import { type Ended, type Row, runOwn } from "../call/own-command.js";
import { digest, type Given } from "../call/seen.js";
import { type Answer, type Call, tool } from "../call/tool.js";
import { saidBy } from "./ask-rows.js";
import { FIELDS, limitField, plainWords, STATES } from "./job-fields.js";

/** Many clients give up on a call after 60 seconds. */
export const LONGEST_WAIT_SECONDS = 50;
const USUAL_ROWS = 50;
/** Between two looks: each connects to machines of batches that no client follows. */
const LOOKS_MS = [500, 1000, 2000, 5000] as const;

export const STATUS = tool({
  name: "status",
  about:
    "Show how far jobs are: counts of all states, and one row per job. Pass the cursor of the last answer to get only rows that are new to you or whose state, machine, attempt or results changed. hasMore: call again with the new cursor.",
  does: "looks",
  fields: {
    directory: DIRECTORY,
    batch: word(
      'A batch of the directory, by its script or name; or jobs of a queue: "train/", "train/7", "train/3-7" [all batches of the directory].',
    ),
    states: STATES,
    cursor: word("The cursor of the last answer [all rows]."),
    limit: limitField(USUAL_ROWS),
    fields: FIELDS,
    waitSeconds: whole(
      "Wait so many seconds for news: with a cursor, for a row that is new or has changed; without, until all jobs have ended [0].",
      0,
      LONGEST_WAIT_SECONDS,
    ),
  },
  call: ({ directory, batch, waitSeconds = 0, ...rest }, call) => {
    const place = directoryOf(call.host, directory);
    return statusOf(
      { ...rest, directory: place, words: plainWords(batch === undefined ? [] : [batch]), waitSeconds },
      call,
    );
  },
});

export interface StatusAsk {
  readonly directory: string;
  /** After `sshoal status --json`. */
  readonly words: readonly string[];
  readonly states?: readonly string[];
  readonly cursor?: string;
  readonly limit?: number;
  readonly fields?: readonly string[];
  readonly waitSeconds: number;
}

export async function statusOf(ask: StatusAsk, call: Call): Promise<Answer> {
  const before = call.host.seen.given(ask.cursor);
  const until = Date.now() + ask.waitSeconds * 1000;
  for (let turn = 0; ; turn += 1) {
    const seen = await lookNow(ask, before, call);
    if (ask.waitSeconds > 0) call.progress(seen.over, seen.jobs);
    const isNews = ask.cursor === undefined ? seen.over === seen.jobs : seen.window.total > 0;
    const left = until - Date.now();
    if (isNews || left <= 0 || call.signal.aborted) return answerOf(ask, seen, before, call);
    const rest = LOOKS_MS[Math.min(turn, LOOKS_MS.length - 1)] ?? 0;
    await pause(Math.min(rest, left), undefined, { signal: call.signal }).catch(() => {});
  }
}

interface Look {
  readonly counts: Record<string, number>;
  readonly jobs: number;
  readonly over: number;
  readonly window: RowWindow;
  readonly given: Given;
  readonly ended: Ended;
}

async function lookNow(
  { directory, words, states = [], limit = USUAL_ROWS, fields = [] }: StatusAsk,
  before: Given,
  { host, signal }: Call,
): Promise<Look> {
  const counts: Record<string, number> = {};
  const window = new RowWindow({ limit, fields });
  const given = new Map<string, string>();
  let jobs = 0;
  let over = 0;
  const onRow = (row: Row) => {
    const state = `${row.state}`;
    counts[state] = (counts[state] ?? 0) + 1;
    jobs += 1;
    if (!isOpen(state)) over += 1;
    if (states.length > 0 && !states.includes(state)) return;
    const name = `${row.batch ?? ""} ${row.job}`;
    const now = digest(lasting(row));
    if (before.get(name) !== now && window.offer(row)) given.set(name, now);
  };
  const ended = await runOwn({ host, directory, words: ["status", "--json", ...words], signal, onRow });
  return { counts, jobs, over, window, given, ended };
}

function isOpen(state: string): boolean {
  return state === "waiting" || state === "running";
}

/** Without what changes all the time. */
function lasting(row: Row): Row {
  const { elapsedMs: _, lastLine: __, footprint: ___, durationMs: ____, reason, ...rest } = row;
  return row.state === "waiting" ? rest : { ...rest, reason };
}

function answerOf(
  { directory }: StatusAsk,
  { counts, jobs, window, given, ended }: Look,
  before: Given,
  { host }: Call,
): Answer {
  const clients = host.clients.report(directory);
  return {
    jobs,
    counts,
    rows: window.rows,
    cursor: host.seen.note(before, given),
    hasMore: window.nextOffset !== null,
    ...saidBy(ended),
    ...(clients.length > 0 && { clients }),
  };
}
