// Waits until events of a run have brought something about.

import type { RunEvent } from "../../model/event.js";

type Matters = (event: RunEvent) => boolean;

export class Awaited {
  readonly #looks = new Map<() => void, Matters>();

  /** Call it for every event, after it was applied. */
  note(event: RunEvent): void {
    for (const [look, matters] of [...this.#looks]) if (matters(event)) look();
  }

  /** What `look` finds, now or after an event that matters. Null: `patienceMs` have passed. */
  until<T>(look: () => T | null, matters: Matters, patienceMs: number | null = null): Promise<T | null> {
    return new Promise((resolve) => {
      const end = (found: T | null) => {
        clearTimeout(timer);
        this.#looks.delete(again);
        resolve(found);
      };
      const again = () => {
        const found = look();
        if (found !== null) end(found);
      };
      const timer = patienceMs === null ? undefined : setTimeout(end, patienceMs, null).unref();
      this.#looks.set(again, matters);
      again();
    });
  }
}
