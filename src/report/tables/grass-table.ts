// What `grass show` prints: the daemon, the workers of its broker, and jobs, in the columns of the tool of that name.

import { shortCommand } from "../../model/job.js";
import type { QueueJob } from "../../model/queue.js";
import type { JobWord } from "../../model/standing.js";
import { escapeC1 } from "../lines/json-lines.js";
import { type Look, type Span, type Style, span } from "../live/styled-text.js";
import { formatAge } from "../text/amounts.js";
import { outcomeWords, reasonWords } from "../text/outcome-words.js";
import { printable } from "../text/printable.js";
import { fitWidth, padWidth, textWidth } from "../text/width.js";
import { obstacleWords } from "./queue-table.js";

export interface GrassState {
  readonly daemon: {
    /** Null: it has no broker here. */
    readonly pid: number | null;
    /** Where its worker takes jobs from; null: it has none. */
    readonly worker: string | null;
  };
  /** Where it listens. */
  readonly address: string;
  readonly workers: readonly GrassWorker[];
  readonly jobs: readonly QueueJob[];
  /** How many jobs are not among these. */
  readonly left: number;
}

export interface GrassWorker {
  readonly hostname: string;
  /** Null, here and below: not known. */
  readonly os: string | null;
  readonly uptimeMs: number | null;
  readonly queues: readonly { readonly name: string; readonly running: number }[];
}

interface GrassLook {
  readonly signs: Pick<Look, "ellipsis">;
  /** Infinity: rows are whole. */
  readonly columns: number;
}

const GAP = "  ";
const WIDEST_COMMAND = 40;
const NARROWEST_COMMAND = 12;
/** Narrower terminals leave out the year. */
const FULL_DATES = 100;
const DAY_AT = "2026-".length;
const WORKER_HEAD = ["hostname", "os", "uptime", "queues"];
const JOB_HEAD = ["created", "queue", "job id", "status", "command", "allocation", "result"];
const STATUS = JOB_HEAD.indexOf("status");
const COMMAND = JOB_HEAD.indexOf("command");

const STATUSES: Readonly<Record<JobWord, "Pending" | "Running" | "Success" | "Failed">> = {
  waiting: "Pending",
  running: "Running",
  succeeded: "Success",
  failed: "Failed",
  stopped: "Failed",
  lost: "Failed",
  skipped: "Failed",
};
const STYLES: Readonly<Record<string, Style>> = { Running: "warn", Success: "good", Failed: "bad" };

export function grassLines({ daemon, address, workers, jobs, left }: GrassState, look: GrassLook): Span[][] {
  const { ellipsis } = look.signs;
  const jobRows = jobs.map((job) => jobCells(job, look));
  return [
    [span("[Daemon]")],
    [span(`Broker: ${daemon.pid === null ? "-" : `Running (pid ${daemon.pid})`}`)],
    [span(`Worker: ${daemon.worker ?? "-"}`)],
    [span(`[Broker @ ${printable(address)}]`)],
    ...rows([WORKER_HEAD, ...workers.map(workerCells)], look),
    [span("")],
    ...(jobs.length === 0 ? [[span("no jobs")]] : rows([JOB_HEAD, ...jobRows], look)),
    ...(left > 0 ? [[span(`${ellipsis} ${left} more; grass show --json lists all`, "dim")]] : []),
  ];
}

function workerCells({ hostname, os, uptimeMs, queues }: GrassWorker): string[] {
  const running = queues.map((queue) => `${queue.name} (${queue.running} running)`);
  const uptime = uptimeMs === null ? "-" : formatAge(uptimeMs);
  return [printable(hostname), printable(os ?? "-"), uptime, printable(running.join(", "))];
}

function jobCells(job: QueueJob, { signs, columns }: GrassLook): string[] {
  const command = printable(shortCommand(job));
  return [
    columns < FULL_DATES ? localTime(job.enqueuedAt).slice(DAY_AT) : localTime(job.enqueuedAt),
    printable(job.queue),
    `${job.id}`,
    STATUSES[job.state],
    columns === Number.POSITIVE_INFINITY ? command : fitWidth(command, WIDEST_COMMAND, signs.ellipsis),
    printable(allocationOf(job) === null ? "" : JSON.stringify(allocationOf(job))),
    printable(resultOf(job)),
  ];
}

function rows(cells: readonly (readonly string[])[], { columns, signs }: GrassLook): Span[][] {
  const widths = JOB_HEAD.map((_, column) => Math.max(...cells.map((row) => textWidth(row[column] ?? ""))));
  const over = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - columns;
  // A long command leaves room for the result.
  if (cells[0]?.length === JOB_HEAD.length && over > 0)
    widths[COMMAND] = Math.min(
      widths[COMMAND] ?? 0,
      Math.max(NARROWEST_COMMAND, (widths[COMMAND] ?? 0) - over),
    );
  return cells.map((row) => {
    const parts = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return padWidth(column === COMMAND ? fitWidth(cell, width, signs.ellipsis) : cell, width);
    });
    const isJob = row.length === JOB_HEAD.length;
    const before = isJob ? `${parts.slice(0, STATUS).join(GAP)}${GAP}` : "";
    const status = isJob ? (parts[STATUS] ?? "") : "";
    const after = isJob ? `${GAP}${parts.slice(STATUS + 1).join(GAP)}` : parts.join(GAP);
    const room = columns - textWidth(before) - textWidth(status);
    return [
      span(before),
      span(status, STYLES[row[STATUS] ?? ""] ?? "normal"),
      span(fitWidth(after.trimEnd(), Math.max(0, room), signs.ellipsis)),
    ];
  });
}

function localTime(at: number): string {
  const date = new Date(at);
  const two = (part: number) => `${part}`.padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

/** `{"gpu": "0,1"}`; null: it has not begun, or got nothing that has a name. */
function allocationOf({ got }: QueueJob): Record<string, string> | null {
  const entries = Object.entries(got).map(([name, instances]) => [name, instances.join(",")] as const);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

function resultOf({ state, outcome, reason, machine, stderrTail }: QueueJob): string {
  switch (state) {
    case "waiting":
      return obstacleWords(reason ?? "");
    case "running":
      return machine === null ? "" : `on ${machine}`;
    case "succeeded":
      return "-";
    case "failed":
      // It did not begin, and the exit code is not one of its own.
      if (outcome?.kind === "exited" && outcome.cause === "setup-failed")
        return `spawn error: ${reasonWords(outcome, stderrTail ?? "").replace(/^sshoal: /, "")}`;
      if (outcome?.kind === "exited") return `exit code ${outcome.code}`;
      if (outcome?.kind === "killed") return `exit by signal ${outcome.signal}`;
      return outcome === null ? "" : outcomeWords(outcome, "");
    case "stopped":
    case "lost":
    case "skipped":
      return reason === null ? state : `${state}: ${reason}`;
    default:
      return state satisfies never;
  }
}

/** One object, in the format that docs/json-events.md promises to keep. */
export function grassJson({ daemon, address, workers, jobs }: GrassState): string {
  const object = {
    v: 1,
    kind: "grass",
    daemon: { pid: daemon.pid, worker: daemon.worker },
    broker: { address, workers },
    jobs: jobs.map((job) => ({
      created: new Date(job.enqueuedAt).toISOString(),
      queue: job.queue,
      id: job.id,
      status: STATUSES[job.state],
      command: job.command,
      cwd: job.cwd,
      allocation: allocationOf(job),
      result: resultOf(job),
      exitCode: job.outcome?.kind === "exited" ? job.outcome.code : null,
    })),
  };
  return escapeC1(JSON.stringify(object));
}
