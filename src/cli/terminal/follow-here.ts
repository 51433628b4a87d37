// Follows a batch on this terminal, for any command: shows its events, listens for signals, and returns an exit code.

import { exitCodeOf } from "../../batch/exit-code.js";
import { stemsHere } from "../../batch/find/batches-here.js";
import { type Ending, type Following, followBatch } from "../../batch/follow/follow-batch.js";
import type { Steering } from "../../batch/follow/steering.js";
import type { ExitCode } from "../../errors.js";
import type { Notice } from "../../model/notice.js";
import { quoteIfNeeded } from "../../transport/quote.js";
import { drained } from "./drained.js";
import { farewellLines, noticeFarewell } from "./farewell.js";
import { findKeyboard } from "./keyboard.js";
import { note } from "./note.js";
import { FORGETFUL, noticesFor } from "./notices.js";
import { openReporter } from "./open-reporter.js";
import type { ReporterChoice } from "./reporters.js";
import { listenForSignals } from "./signals.js";
import { TerminalHold } from "./terminal-hold.js";

export interface FollowingHere
  extends Omit<Following, "viewer" | "sending" | "orderTyped" | "exitCodeOf" | "notifier" | "onSameCrash"> {
  /** What is run at the end of the batch; left out or null: what an earlier client was asked for. */
  readonly notice?: Notice | null;
  /** Jobs come from there: no keys are read from it. */
  readonly takesStdin?: boolean;
  readonly options: ReporterChoice & {
    /** In bytes, per machine; absent or null: a person is asked about large trees, or warned. */
    readonly maxSend?: number | null;
    /** When all first jobs crash in the same way, the batch pauses on a terminal, and otherwise ends. */
    readonly pausesOnCrash?: boolean;
  };
}

/** `exitCodeOf`: absent: that of a batch. */
interface FollowingWithCode extends FollowingHere {
  readonly exitCodeOf: (ending: Ending) => number;
}

export async function followHere(following: FollowingHere): Promise<ExitCode>;
export async function followHere(following: FollowingWithCode): Promise<number>;
export async function followHere({
  options,
  exitCodeOf: codeOf = exitCodeOf,
  takesStdin = false,
  notice = null,
  ...following
}: FollowingHere & Partial<FollowingWithCode>): Promise<number> {
  const { machines, settings, results, stem } = following.order;
  const notices = noticesFor(following.surroundings, stem, notice);
  const reporter = await openReporter(options, {
    machines: machines.map(({ name }) => name),
    requirement: settings.requirement,
    results,
  });
  const { stdout, stderr } = process;
  const { live } = reporter;
  let hold: TerminalHold | null = null;
  const viewer = {
    show: reporter.show,
    suspend: () => {
      hold?.suspend();
      reporter.suspend();
    },
    resume: () => {
      reporter.resume();
      hold?.resume();
    },
    hasRoom: options.tees ? (signal: AbortSignal) => drained([stdout, stderr], signal) : null,
    attend: (steering: Steering) => {
      const stopListening = listenForSignals(steering);
      const input = live && findKeyboard(process.stdin, !takesStdin);
      if (live) hold = new TerminalHold({ view: live, keys: input ? { input, steering } : null });
      return () => {
        hold?.close();
        stopListening();
      };
    },
  };
  const sending = { maxBytes: options.maxSend ?? null, confirm: following.connector.confirm };
  const follow = () =>
    followBatch({
      ...following,
      viewer,
      sending,
      notifier: notices.notifier,
      ...(options.pausesOnCrash && { onSameCrash: live ? "pause" : "halt" }),
      exitCodeOf: codeOf,
      orderTyped: async (typed) => {
        const { orderTyped } = await import("../commands/typed-order.js");
        return orderTyped(typed, following.surroundings, following.order.stem);
      },
    });
  let ending: Ending | null = null;
  try {
    ending = await follow();
  } finally {
    reporter.close(ending?.kind === "detached");
  }
  if (ending.kind === "detached") {
    const batch = batchWord(following.order);
    const lines = farewellLines(ending.left, `sshoal attach${batch}`);
    if (notices.notifier.isForgetful) note(FORGETFUL);
    else lines.push(...noticeFarewell(notice, `sshoal wait${batch}`));
    for (const line of lines) stderr.write(`${line}\n`);
  }
  await notices.settle();
  return codeOf(ending);
}

/** If a directory has several batches, one has to be named. */
function batchWord({ results, stem }: FollowingHere["order"]): string {
  return stemsHere(results).length < 2 ? "" : ` ${quoteIfNeeded(stem)}`;
}
