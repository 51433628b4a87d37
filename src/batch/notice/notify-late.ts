// Runs the command of a notice for a batch that no client follows, by a command that only looked and so learned of the end.

import type { BatchHere } from "../find/batches-here.js";
import { endOf } from "../wait/job-end.js";
import { dueOf, factsOf } from "./notice-due.js";
import type { NoticeStore } from "./notice-store.js";
import type { SendNotice } from "./notifier.js";

export async function notifyLate(here: BatchHere, store: NoticeStore, send: SendNotice): Promise<void> {
  const { state, batch, stem, dir, holder } = here;
  const notice = holder === null ? store.load() : null;
  if (notice === null) return;
  const isOver =
    state.jobs.size > 0 && [...state.jobs.values()].every((tracked) => endOf(tracked, false) !== null);
  const due = dueOf(notice, { state, isFollowed: false, isOver });
  // Another command may have learned of it at the same moment: only one of them gets it.
  const claimed = due === null ? null : store.claim();
  if (claimed === null || due === "lapsed") return;
  const facts = factsOf({ on: notice.on, batch, stem, directory: dir }, state, isOver ? null : Date.now());
  await send(claimed.command, facts);
}
