// Follows a batch on this terminal, whichever command asked for it: shows what happens, listens for signals, and
// answers with an exit code.

import { exitCodeOf } from "../../batch/exit-code.js";
import { type Ending, type Following, followBatch } from "../../batch/follow-batch.js";
import type { ExitCode } from "../../errors.js";
import type { BatchRun } from "../../run/batch-run.js";
import { drained } from "./drained.js";
import { openReporter } from "./open-reporter.js";
import type { ReporterChoice } from "./reporters.js";
import { listenForSignals } from "./signals.js";

export interface FollowingHere extends Omit<Following, "viewer" | "sending" | "orderTyped" | "exitCodeOf"> {
  readonly options: ReporterChoice & {
    /** In bytes, to one machine; left out or null: a person is asked about much, or warned. */
    readonly maxSend?: number | null;
  };
}

/** `exitCodeOf`: left out, that of a batch. */
interface FollowingWithCode extends FollowingHere {
  readonly exitCodeOf: (ending: Ending) => number;
}

export async function followHere(following: FollowingHere): Promise<ExitCode>;
export async function followHere(following: FollowingWithCode): Promise<number>;
export async function followHere({
  options,
  exitCodeOf: codeOf = exitCodeOf,
  ...following
}: FollowingHere & Partial<FollowingWithCode>): Promise<number> {
  const { machines, settings, results } = following.order;
  const reporter = await openReporter(options, {
    machines: machines.map(({ name }) => name),
    requirement: settings.requirement,
    results,
  });
  const { stdout, stderr } = process;
  const viewer = {
    show: reporter.show,
    suspend: () => reporter.suspend(),
    resume: () => reporter.resume(),
    hasRoom: options.tees ? (signal: AbortSignal) => drained([stdout, stderr], signal) : null,
    attend: (run: BatchRun) => {
      const stopListening = listenForSignals(run);
      return () => {
        stopListening();
        reporter.close();
      };
    },
  };
  // Programs that read events are asked nothing.
  const confirm = options.isJson ? null : following.connector.confirm;
  const sending = { maxBytes: options.maxSend ?? null, confirm };
  const ending = await followBatch({
    ...following,
    viewer,
    sending,
    exitCodeOf: codeOf,
    orderTyped: async (typed) => {
      const { orderTyped } = await import("../commands/typed-order.js");
      return orderTyped(typed, following.surroundings, following.order.stem);
    },
  });
  if (ending.kind === "detached") stderr.write(`${farewell(ending)}\n`);
  return codeOf(ending);
}

function farewell({ isHandedOver }: Extract<Ending, { kind: "detached" }>): string {
  const comeBack = "the same command again, or sshoal attach, follows them";
  return isHandedOver
    ? `detached: the machines go on by themselves; ${comeBack}`
    : `detached: what was handed over goes on, the other jobs wait; ${comeBack}`;
}
