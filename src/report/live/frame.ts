// The live view as lines that fit the terminal (pure): what to show when there is not room for everything.

import { machineLines } from "./machine-lines.js";
import { progressLines } from "./progress.js";
import { runningLines } from "./running-lines.js";
import { type Canvas, formatSpans, type Span, span } from "./styled-text.js";
import { runningJobs, type ViewState } from "./view-state.js";

/** At most `rows - 1` lines: the last row is where the cursor rests. */
export function frameLines(view: ViewState, canvas: Canvas): string[] {
  const height = Math.max(0, canvas.rows - 1);
  const head = progressLines(view, canvas);
  const foot = [formatSpans([footOf(view)], canvas)];
  const jobs = runningJobs(view);
  const room = shareOut(height - head.length - foot.length, view.machines.size, jobs.length);
  const machines = listed([...view.machines.values()], room.machines, (some) =>
    machineLines(some, jobs, canvas),
  );
  const running = listed(jobs, room.running, (some) => runningLines(some, canvas));
  return stacked(
    [
      head,
      [...machines.lines, ...restLine(machines.left, "machines", canvas)],
      [...running.lines, ...restLine(running.left, "running", canvas)],
      foot,
    ],
    height,
  );
}

function footOf(view: ViewState): Span {
  const notice = view.stopping ?? view.paused;
  if (notice !== null) return span(notice, "warn");
  const hint = "Ctrl-C: no new jobs, running ones finish";
  return span(isWithMachines(view) ? `${hint}; closing this window stops nothing` : hint, "dim");
}

/** Every job that is not done is on a machine, which needs no client for it. */
function isWithMachines({ state }: ViewState): boolean {
  const { waiting, running, ended } = state.tally;
  const queued = [...state.machines.values()].reduce((sum, { current }) => sum + current.queued.size, 0);
  return waiting + running + ended > 0 && queued === waiting;
}

/** When not all fit, machines get up to half of the lines, or more if the running jobs leave it. */
function shareOut(budget: number, machines: number, running: number): { machines: number; running: number } {
  const lines = Math.max(0, budget);
  const forMachines = Math.min(machines, Math.max(Math.floor(lines / 2), lines - running));
  return { machines: forMachines, running: Math.min(running, lines - forMachines) };
}

/** When not all fit, the last line of the room is left for how many more there are. */
function listed<T>(items: readonly T[], room: number, format: (some: readonly T[]) => string[]) {
  if (items.length <= room) return { lines: format(items), left: 0 };
  const some = items.slice(0, Math.max(0, room - 1));
  return { lines: format(some), left: room > 0 ? items.length - some.length : 0 };
}

function restLine(left: number, what: string, canvas: Canvas): string[] {
  if (left === 0) return [];
  return [formatSpans([span(`${canvas.look.ellipsis} ${left} more ${what}`, "dim")], canvas)];
}

/** One block below the other, with empty lines between them if there is room for all of these. */
function stacked(blocks: readonly string[][], height: number): string[] {
  const filled = blocks.filter((block) => block.length > 0);
  const isRoomy = filled.flat().length + filled.length - 1 <= height;
  const lines = filled.flatMap((block, index) => (isRoomy && index > 0 ? ["", ...block] : block));
  return lines.slice(0, height);
}
