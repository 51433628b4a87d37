// The live view on a terminal: redrawn in place, with warnings kept above it.

import type { RunEvent } from "../../model/event.js";
import { summaryLines } from "../lines/summary.js";
import { teeLines } from "../lines/tee-lines.js";
import { warningLines } from "../lines/warning-lines.js";
import {
  editLines,
  haltedLine,
  keptLines,
  oldRemovedLine,
  resumedLine,
  resumesLine,
  treeLine,
} from "../lines/wording.js";
import type { Known, LiveView, Reporter, Sources } from "../reporter.js";
import { frameLines } from "./frame.js";
import type { KeysMode } from "./keys-mode.js";
import { LiveRegion, type TerminalStream } from "./live-region.js";
import { type Canvas, type Look, lookOf } from "./styled-text.js";
import { applyToView, newView, type ViewState } from "./view-state.js";

export interface TerminalOptions extends Sources {
  readonly stream: TerminalStream;
  readonly now: () => number;
  readonly useColour: boolean;
  readonly useUnicode: boolean;
}

/** Five times per second; people cannot follow more. */
const TICK_MS = 200;
const IDLE_REDRAW_MS = 1000;
const MOST_WAITING = 500;

export function createTerminalReporter(options: TerminalOptions): Reporter {
  return new TerminalReporter(options);
}

class TerminalReporter implements Reporter, LiveView {
  readonly live = this;
  readonly #stream: TerminalStream;
  readonly #now: () => number;
  readonly #look: Look;
  readonly #view: ViewState;
  readonly #region: LiveRegion;
  readonly #timer: NodeJS.Timeout;
  /** Lines to print above the live view with the next redraw. */
  #lasting: string[] = [];
  #drawnAt = 0;
  #isDirty = false;
  #isClosed = false;
  #isSuspended = false;
  #isHidden = false;

  constructor(options: TerminalOptions) {
    const { stream } = options;
    this.#stream = stream;
    this.#now = options.now;
    this.#look = lookOf(options);
    this.#view = newView(options.machines, options);
    this.#region = new LiveRegion(stream);
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
    stream.on("resize", this.#draw);
    this.#draw();
  }

  show(event: RunEvent, known: Known): void {
    applyToView(this.#view, event, known);
    if (!known.isNews) return;
    for (const line of warningLines(event, known.state)) this.#lasting.push(this.#look.paint(line, "warn"));
    this.#isDirty = true;
    switch (event.kind) {
      case "run-started":
        this.#lasting.push(...editLines(event));
        return;
      case "tree-read":
        this.#lasting.push(treeLine(event));
        return;
      case "job-output":
        return this.#showOutput(event);
      case "halted":
        this.#lasting.push(this.#look.paint(haltedLine(event), "warn"));
        return;
      case "run-resumed":
        this.#lasting.push(resumedLine(event));
        return;
      case "job-resumes":
        this.#lasting.push(resumesLine(event, known.state));
        return;
      case "dirs-kept":
        this.#lasting.push(...keptLines(event, known.state));
        return;
      case "old-results-removed":
        this.#lasting.push(oldRemovedLine(event));
        return;
      case "results-moved":
      case "jobs-added":
      case "job-refused":
      case "machine-serves":
      case "jobs-left-out":
      case "jobs-complete":
      case "job-skipped":
      case "job-blocked":
      case "job-reopened":
      case "job-replaced":
      case "machine-ready":
      case "machine-lost":
      case "machine-back":
      case "machine-quiet":
      case "machine-failed":
      case "machine-refused":
      case "machine-set-aside":
      case "same-crash":
      case "machine-draining":
      case "machine-opened":
      case "machine-done":
      case "staging":
      case "staged":
      case "jobs-assigned":
      case "jobs-stopping":
      case "jobs-resumed":
      case "jobs-handed-over":
      case "jobs-taken-back":
      case "jobs-reassigned":
      case "jobs-retried":
      case "job-grown":
      case "jobs-gone":
      case "slot-waiting":
      case "job-started":
      case "job-said":
      case "output-restarted":
      case "job-ended":
      case "collecting":
      case "jobs-arrived":
      case "job-collected":
      case "rest-collected":
      case "job-stuck":
      case "warning":
      case "interrupted":
      case "paused":
      case "continued":
      case "run-ended":
        return;
      default:
        event satisfies never;
    }
  }

  /** Removes the live view; events in the meantime are shown afterwards. */
  suspend(): void {
    if (this.#isSuspended || this.#isClosed) return;
    this.#region.draw([], this.#takeLasting());
    this.#isSuspended = true;
  }

  resume(): void {
    if (!this.#isSuspended || this.#isClosed) return;
    this.#isSuspended = false;
    this.#draw();
  }

  showKeys(mode: KeysMode | null): void {
    if (this.#view.keys === mode) return;
    this.#view.keys = mode;
    this.#draw();
  }

  hide(isHidden: boolean): void {
    if (this.#isHidden === isHidden || this.#isClosed) return;
    this.#region.draw([], this.#takeLasting());
    this.#isHidden = isHidden;
    this.#draw();
  }

  close(isLeft = false): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#stream.off("resize", this.#draw);
    const look = { signs: this.#look, columns: this.#canvas().columns, title: this.#view.title };
    const summary = isLeft ? [] : summaryLines(this.#view, look);
    this.#region.draw([], [...this.#lasting, ...summary]);
  }

  /** Prints output above the live view as it arrives, without gathering it until the next redraw. */
  #showOutput({ job, text }: Extract<RunEvent, { kind: "job-output" }>): void {
    const lines = teeLines(this.#view.state.jobs.get(job)?.job.name ?? "", text);
    for (const each of lines) this.#lasting.push(each);
    if (this.#lasting.length >= MOST_WAITING) this.#draw();
  }

  #tick(): void {
    if (this.#isDirty || this.#now() - this.#drawnAt >= IDLE_REDRAW_MS) this.#draw();
  }

  readonly #draw = (): void => {
    if (this.#isSuspended || this.#isClosed) return;
    if (this.#isHidden) return this.#printLasting();
    const canvas = this.#canvas();
    this.#region.draw(frameLines(this.#view, canvas), this.#takeLasting());
    this.#drawnAt = canvas.now;
    this.#isDirty = false;
  };

  /** Other programs have moved the cursor, so nothing is redrawn in place. */
  #printLasting(): void {
    for (const line of this.#takeLasting()) this.#stream.write(`${line}\n`);
    this.#isDirty = false;
  }

  #takeLasting(): string[] {
    const lines = this.#lasting;
    this.#lasting = [];
    return lines;
  }

  #canvas(): Canvas {
    const { columns, rows } = this.#stream;
    return { columns: columns || 80, rows: rows || 24, now: this.#now(), look: this.#look };
  }
}
