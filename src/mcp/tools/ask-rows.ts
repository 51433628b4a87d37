// Runs a command that prints rows, and answers with a part of them.

import { RowWindow, type WindowOrder } from "../answer/row-window.js";
import { type Ended, type OwnCommand, type Row, runOwn } from "../call/own-command.js";
import type { Answer } from "../call/tool.js";

interface Look extends Omit<OwnCommand, "onRow"> {
  /** What the rows are called in the answer. */
  readonly as: string;
  readonly part?: Partial<WindowOrder>;
  /** Makes a row shorter. */
  readonly shorten?: (row: Row) => Row;
}

export async function askRows({ as, part, shorten = (row) => row, ...command }: Look): Promise<Answer> {
  const window = new RowWindow(part);
  const ended = await runOwn({ ...command, onRow: (row) => window.offer(shorten(row)) });
  return { [as]: window.rows, ...window.page, ...saidBy(ended) };
}

/** What a command reports besides its rows. */
export function saidBy({ exitCode, error, notes }: Ended): Answer {
  return {
    exitCode,
    ...(error !== null && { error: error.message, hint: error.hint ?? null }),
    ...(notes.length > 0 && { notes }),
  };
}
