// Runs the command of --notify for the commands of this terminal, and reports if that fails.

import path from "node:path";
import type { BatchHere } from "../../batch/find/batches-here.js";
import { NoticeStore } from "../../batch/notice/notice-store.js";
import { Notifier, type SendNotice } from "../../batch/notice/notifier.js";
import { notifyLate } from "../../batch/notice/notify-late.js";
import type { Surroundings } from "../../batch/surroundings.js";
import type { Notice } from "../../model/notice.js";
import { noticeEnv } from "../../report/lines/notice-env.js";
import { tildePath } from "../../report/text/tilde-path.js";
import { runLocalCommand } from "../../run/home/local-command.js";
import { onEndingSignals } from "./ending-signals.js";
import { note } from "./note.js";

const LIMIT_MS = 30_000;

/** For a client that follows a batch. settle() it after the last event. */
export interface NoticesHere {
  readonly notifier: Notifier;
  /** Resolves when the command has run; a signal ends it. */
  settle(): Promise<void>;
}

export function noticesFor(surroundings: Surroundings, stem: string, asked: Notice | null): NoticesHere {
  const directory = surroundings.cwd;
  const store = new NoticeStore(surroundings, directory, stem);
  const ending = new AbortController();
  const problems: string[] = [];
  const send = sender(store, surroundings, ending.signal, (problem) => problems.push(problem));
  const notifier = new Notifier({ store, asked, directory, stem, send });
  const settle = async () => {
    await untilSignal(ending, notifier.settle());
    for (const problem of problems) note(problem);
  };
  return { notifier, settle };
}

/** For the client that follows the batch, which looks for it when the batch ends. */
export function leaveNotice(surroundings: Surroundings, stem: string, notice: Notice | null): void {
  if (notice === null) return;
  const store = new NoticeStore(surroundings, surroundings.cwd, stem);
  if (notice.command === "") store.drop();
  else if (!store.save(notice, Date.now())) note(FORGETFUL);
}

export const FORGETFUL =
  "WARNING: the command of --notify cannot be kept, and no other client runs it: ~/.local/state/sshoal must be yours alone";

/** For commands that only looked at batches, and may have learned of their ends. */
export async function notifyOf(batches: readonly BatchHere[], surroundings: Surroundings): Promise<void> {
  const ending = new AbortController();
  const sending = batches.map((here) => {
    const store = new NoticeStore(surroundings, here.dir, here.stem);
    return notifyLate(here, store, sender(store, surroundings, ending.signal, note));
  });
  await untilSignal(ending, Promise.all(sending));
}

/** Commands that may hold secrets do not stay in the list of processes, which every account can read. */
export function hideArguments(instead: string): void {
  process.title = `${path.basename(process.argv[1] ?? "sshoal", ".js")} ${instead}`;
}

function sender(
  store: NoticeStore,
  { homeDir }: Surroundings,
  signal: AbortSignal,
  onProblem: (problem: string) => void,
): SendNotice {
  return async (line, facts) => {
    const env = { ...process.env, ...noticeEnv(facts) };
    const { problem, output } = await runLocalCommand({
      line,
      cwd: facts.directory,
      env,
      limitMs: LIMIT_MS,
      signal,
    });
    if (problem === null) return;
    // What it printed may hold the secret as well: it goes to a private file.
    const file = output.length === 0 ? null : store.saveOutput(output);
    const where = file === null ? "" : `; what it printed is in ${tildePath(file, homeDir)}`;
    onProblem(`WARNING: the command of --notify failed: ${problem}${where}`);
  };
}

async function untilSignal(ending: AbortController, done: Promise<unknown>): Promise<void> {
  const end = () => ending.abort();
  const unlisten = onEndingSignals(end);
  try {
    await done;
  } finally {
    unlisten();
  }
}
