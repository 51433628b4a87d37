// A view that is redrawn in place: five times per second if it has changed, otherwise every second, and at once if the
// window changes its size.

import { LiveRegion, type TerminalStream } from "./live-region.js";

/** People cannot follow more. */
const TICK_MS = 200;
/** Times in a table grow by the second. */
const IDLE_REDRAW_MS = 1000;

export interface Drawing {
  readonly lines: readonly string[];
  /** Lines that stay above the view. */
  readonly above?: readonly string[];
}

export interface DrawnView {
  readonly stream: TerminalStream;
  readonly now: () => number;
  readonly draw: () => Drawing;
  readonly drawHidden: () => Drawing;
  /** What stays when the view is closed. */
  readonly drawLast: () => Drawing;
}

/** Owns a timer; close() it. */
export class Redrawn {
  readonly #view: DrawnView;
  readonly #region: LiveRegion;
  readonly #timer: NodeJS.Timeout;
  #drawnAt = 0;
  #isDirty = false;
  #isHidden = false;
  #isClosed = false;

  constructor(view: DrawnView) {
    this.#view = view;
    this.#region = new LiveRegion(view.stream);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    view.stream.on("resize", this.draw);
  }

  /** The view is drawn again at the next tick. */
  change(): void {
    this.#isDirty = true;
  }

  readonly draw = (): void => {
    if (this.#isHidden || this.#isClosed) return;
    this.#put(this.#view.draw());
    this.#drawnAt = this.#view.now();
    this.#isDirty = false;
  };

  /** While a question is asked, or another program has the terminal. */
  hide(isHidden: boolean): void {
    if (this.#isHidden === isHidden || this.#isClosed) return;
    if (isHidden) this.#put(this.#view.drawHidden());
    this.#isHidden = isHidden;
    this.draw();
  }

  close(): void {
    if (this.#isClosed) return;
    clearInterval(this.#timer);
    this.#view.stream.off("resize", this.draw);
    if (!this.#isHidden) this.#put(this.#view.drawLast());
    this.#isClosed = true;
  }

  #tick(): void {
    if (this.#isDirty || this.#view.now() - this.#drawnAt >= IDLE_REDRAW_MS) this.draw();
  }

  #put({ lines, above = [] }: Drawing): void {
    this.#region.draw(lines, above);
  }
}
