// The meaning of a key (pure): it depends on the live view's question, and on whether the batch is draining or
// stopping.

import type { Interrupted } from "../../batch/follow/steering.js";
import type { KeysMode } from "../../report/live/keys-mode.js";

/** The last three are what the terminal itself would do if it did not pass every key on. */
export type Action = "detach" | "drain" | "stop" | "continue" | "interrupt" | "suspend" | "quit";

export interface Pressed {
  readonly mode: KeysMode;
  readonly action: Action | null;
}

const ESCAPE = "\x1b";
/** Ctrl-C, Ctrl-Z, Ctrl-\. */
const CONTROLS: ReadonlyMap<string, Action> = new Map([
  ["\x03", "interrupt"],
  ["\x1a", "suspend"],
  ["\x1c", "quit"],
]);

/** One entry per key. Arrow keys and letters with Alt are several characters, and are ignored. */
export function parseKeys(text: string): string[] {
  return [...text.replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|O?[ -~])/g, "")];
}

/** What keeps new jobs from beginning. */
export type Held = Interrupted | "paused";

export function press(key: string, mode: KeysMode, held: Held): Pressed {
  const control = CONTROLS.get(key);
  if (control !== undefined) return { mode: "hint", action: control };
  if (key === "d") return { mode: "detaching", action: "detach" };
  if (mode === "detaching") return { mode, action: null };
  if (key === "?") return { mode: mode === "list" ? "hint" : "list", action: null };
  if (key === ESCAPE) return { mode: "hint", action: null };
  if (held === "drain" || held === "stop")
    return { mode: "hint", action: held === "drain" ? whileDraining(key) : null };
  if (mode === "leave") return whileAsked(key);
  if (held === "paused" && key === "c") return { mode: "hint", action: "continue" };
  return { mode: key === "q" ? "leave" : mode, action: null };
}

function whileDraining(key: string): Action | null {
  if (key === "c") return "continue";
  return key === "s" ? "stop" : null;
}

function whileAsked(key: string): Pressed {
  if (key === "r") return { mode: "hint", action: "drain" };
  if (key === "s") return { mode: "hint", action: "stop" };
  return { mode: key === "q" ? "hint" : "leave", action: null };
}
