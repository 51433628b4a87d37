// The live view as lines that fit the terminal (pure). Decides what to show if there is not room for everything.

import { isWide, jobLines } from "./job-lines.js";
import { failureRows, type JobRow, runningRows, succeededRows, waitingRows } from "./job-rows.js";
import { keysLines } from "./keys-line.js";
import { machineLines } from "./machine-lines.js";
import { progressLines } from "./progress.js";
import { type Canvas, formatSpans, type Style, span } from "./styled-text.js";
import type { ViewState } from "./view-state.js";

/** For a terminal with few rows: the other failures are only counted. */
const FAILURES_KEPT = 3;
/** For a terminal with many rows. */
const WAITING_SHOWN = 8;
const ENDED_SHOWN = 5;
/** Between machines, failures, other jobs, and above the keys. */
const GAPS = 4;

/** At most `rows - 1` lines, because the cursor needs the last row. */
export function frameLines(view: ViewState, canvas: Canvas): string[] {
  const height = Math.max(0, canvas.rows - 1);
  const head = progressLines(view, canvas);
  const foot = keysLines(view, canvas);
  const running = runningRows(view, canvas.now, isWide(canvas));
  const failures = failureRows(view);
  const wants = {
    machines: view.machines.size,
    running: running.length,
    failures: failures.length,
    waiting: view.state.tally.waiting,
    ended: Math.min(ENDED_SHOWN, view.state.tally.succeeded),
  };
  const room = shareOut(height - head.length - foot.length, wants);
  const lines = (rows: readonly JobRow[]) => jobLines(rows, view, canvas);
  const more = <T>(
    { some, left }: Listed<T>,
    what: string,
    sign = canvas.look.ellipsis,
    style: Style = "dim",
  ) => {
    const text = `${sign} ${left}${some.length === 0 ? "" : " more"} ${what}`;
    return left === 0 ? [] : [formatSpans([span(text, style)], canvas)];
  };
  const machines = listed([...view.machines.values()], room.machines);
  const jobs = listed(running, room.running);
  const failed = listedLast(failures, room.failures);
  return stacked(
    [
      head,
      [...machineLines(machines.some, view, canvas), ...more(machines, "machines")],
      [...more(failed, "failed", canvas.look.states.failed, "bad"), ...lines(failed.some)],
      [
        ...lines(jobs.some),
        ...more(jobs, "running"),
        ...waitingLines(view, room.waiting, canvas),
        ...lines(succeededRows(view, room.ended)),
      ],
      foot,
    ],
    height,
  );
}

function waitingLines(view: ViewState, room: number, canvas: Canvas): string[] {
  const { waiting } = view.state.tally;
  const rows = waitingRows(view, canvas.now, waiting <= room ? room : room - 1);
  const left = waiting - rows.length;
  const count = rows.length === 0 ? `${left} wait` : `${left} more wait`;
  const rest = left > 0 && room > 0 ? [`${canvas.look.states.waiting} ${count}`] : [];
  return [...jobLines(rows, view, canvas), ...rest.map((text) => formatSpans([span(text, "dim")], canvas))];
}

type Shares = Record<"machines" | "running" | "failures" | "waiting" | "ended", number>;

/**
 * Omits first the succeeded jobs, then waiting ones except their number, then old failures. Machines get up to half of
 * the rest, or more if the running jobs need less.
 */
function shareOut(budget: number, wants: Shares): Shares {
  let left = Math.max(0, budget);
  const take = (wanted: number) => {
    const taken = Math.max(0, Math.min(wanted, left));
    left -= taken;
    return taken;
  };
  let waiting = take(Math.min(1, wants.waiting));
  let failures = take(Math.min(wants.failures, left > 10 ? FAILURES_KEPT : 1));
  const machines = take(Math.min(wants.machines, Math.max(Math.floor(left / 2), left - wants.running)));
  const running = take(wants.running);
  const gaps = take(GAPS);
  // The first reason, and how many more wait.
  waiting += take(Math.min(wants.waiting, 2) - waiting);
  failures += take(wants.failures - failures);
  waiting += take(Math.min(wants.waiting, WAITING_SHOWN) - waiting);
  const ended = gaps === GAPS ? take(wants.ended) : 0;
  return { machines, running, failures, waiting, ended };
}

interface Listed<T> {
  readonly some: readonly T[];
  readonly left: number;
}

/** If not all fit, the last line shows how many more there are. */
function listed<T>(items: readonly T[], room: number): Listed<T> {
  if (items.length <= room) return { some: items, left: 0 };
  const some = items.slice(0, Math.max(0, room - 1));
  return { some, left: room > 0 ? items.length - some.length : 0 };
}

/** The same for the last items. */
function listedLast<T>(items: readonly T[], room: number): Listed<T> {
  const { some, left } = listed(items.toReversed(), room);
  return { some: some.toReversed(), left };
}

/** Puts the blocks below each other, with empty lines between them if there is room for all of these lines. */
function stacked(blocks: readonly string[][], height: number): string[] {
  const filled = blocks.filter((block) => block.length > 0);
  const isRoomy = filled.flat().length + filled.length - 1 <= height;
  const lines = filled.flatMap((block, index) => (isRoomy && index > 0 ? ["", ...block] : block));
  return lines.slice(0, height);
}
