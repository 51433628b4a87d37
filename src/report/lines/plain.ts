// For pipes and log files: prints the lines that people grep for and the summary on stdout, everything else on stderr.

import type { RunEvent } from "../../model/event.js";
import type { Slot } from "../../model/machine.js";
import { applyToView, newView, type ViewState } from "../live/view-state.js";
import type { Reporter, Sources, TextSink } from "../reporter.js";
import { printable } from "../text/printable.js";
import { signsOf } from "../text/signs.js";
import { plainLines } from "./plain-lines.js";
import { summaryLines } from "./summary.js";
import { waitTeller } from "./wait-teller.js";
import { warningLines } from "./warning-lines.js";
import { transferText } from "./wording.js";

export interface PlainOptions extends Sources {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly isVerbose: boolean;
  readonly useUnicode: boolean;
}

/** A log file is read in wider windows than the one that writes it; longer lines are cut. */
export const PLAIN_COLUMNS = 160;

/** How often a long transfer gets a line. */
const TRANSFER_EVERY_MS = 60_000;
const TRANSFER_EVERY_MS_VERBOSE = 5000;

export function createPlainReporter(options: PlainOptions): Reporter {
  const view = newView(options.machines, options);
  let isClosed = false;
  let hasLimits = false;
  const tellTransfers = transferTeller(
    view,
    options.isVerbose ? TRANSFER_EVERY_MS_VERBOSE : TRANSFER_EVERY_MS,
  );
  const tellWaits = waitTeller(view);
  return {
    show(event, known) {
      applyToView(view, event, known);
      if (!known.isNews) return;
      const told = plainLines(view, event, options.devicesOf);
      write(options.stdout, told.stdout ?? []);
      if (!hasLimits && isTimeForLimits(view, event)) {
        write(options.stdout, limitLines(view));
        hasLimits = true;
      }
      write(options.stderr, warningLines(event, known.state));
      write(options.stderr, told.stderr ?? []);
      write(options.stderr, options.isVerbose ? (told.verbose ?? []) : tellWaits(event));
      write(options.stderr, tellTransfers(event));
    },
    suspend() {},
    resume() {},
    close(isLeft = false) {
      if (!isClosed && !isLeft)
        write(
          options.stdout,
          summaryLines(view, { signs: signsOf(options.useUnicode), columns: PLAIN_COLUMNS }),
        );
      isClosed = true;
    },
  };
}

function write(sink: TextSink, lines: readonly string[]): void {
  if (lines.length > 0) sink.write(`${lines.join("\n")}\n`);
}

/** A machine that has not answered when the first jobs are handed over is missing in the list. */
function isTimeForLimits(view: ViewState, { kind }: RunEvent): boolean {
  if (kind === "machine-ready" || kind === "machine-failed") return hasEveryAnswer(view);
  return kind === "jobs-assigned";
}

function hasEveryAnswer(view: ViewState): boolean {
  return [...view.machines.values()].every(({ answer }) => answer !== null);
}

/** A machine that was measured and has no room, now or ever, is listed with 0; one that was not measured is left out. */
function limitLines(view: ViewState): string[] {
  const measured = [...view.machines.values()].flatMap(({ name, answer }) => {
    if (answer?.kind === "ready") return [{ name, slots: answer.isFull ? [] : answer.slots }];
    return answer?.hasNoRoom ? [{ name, slots: [] }] : [];
  });
  const limits = measured.map(({ name, slots }) => `${pythonString(printable(name))}: ${slots.length}`);
  const choices = measured.map(({ slots }) => gpuChoices(slots));
  return [`machine limits:  {${limits.join(", ")}}`, `machine gpu choices: [${choices.join(", ")}]`];
}

function gpuChoices(slots: readonly Slot[]): string {
  const choices = slots
    .filter(({ gpus }) => gpus.length > 0)
    .map(({ gpus }) => gpus.map(({ index }) => index).join(", "));
  const isNested = slots.some(({ gpus }) => gpus.length > 1);
  return `[${choices.map((choice) => (isNested ? `[${choice}]` : choice)).join(", ")}]`;
}

function pythonString(text: string): string {
  return text.includes("'") && !text.includes('"') ? `"${text}"` : `'${text.replaceAll("'", "\\'")}'`;
}

/** Prints a line from time to time for a machine whose copy or results take long. */
function transferTeller(view: ViewState, everyMs: number): (event: RunEvent) => string[] {
  const toldAt = new Map<string, number>();
  return (event) => {
    if (event.kind !== "staging" && event.kind !== "collecting") return [];
    const transfer = view.machines.get(event.machine)?.[event.kind];
    if (!transfer || transfer.doneBytes >= transfer.totalBytes) return [];
    const since = Math.max(toldAt.get(event.machine) ?? 0, transfer.beganAt);
    if (event.at - since < everyMs) return [];
    toldAt.set(event.machine, event.at);
    return [`${event.kind}: ${printable(event.machine)}; ${transferText(transfer)}`];
  };
}
