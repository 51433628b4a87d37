// Parses the lines that slots append to the event log, strictly, because they come from a machine.

import { isAttemptKey } from "../../model/attempt-key.js";
import type { Outcome } from "../../model/job.js";
import { withCause } from "./failure-cause.js";
import { type MachineClock, timeOnClock } from "./machine-clock.js";

export type SpoolEvent =
  | {
      readonly kind: "started";
      readonly key: string;
      readonly slot: number;
      /**
       * By the local clock; null if the loop is older and does not report it, or if it was before the machine's last
       * boot.
       */
      readonly startedAt: number | null;
      /** The cards that it got, and instances of named resources, as `gpus` and `got`. */
      readonly facts: ReadonlyMap<string, string>;
    }
  | {
      readonly kind: "ended";
      readonly key: string;
      readonly slot: number;
      readonly outcome: Outcome;
      readonly durationMs: number;
      /** What else the machine found out, by name. Names of later versions are here, too. */
      readonly facts: ReadonlyMap<string, string>;
    }
  /** Of slots of format 2 and before. */
  | { readonly kind: "waiting"; readonly slot: number; readonly reason: string }
  /** Why a job waits, as words of room.awk. */
  | {
      readonly kind: "waits";
      readonly slot: number;
      readonly key: string;
      readonly reasons: readonly string[];
    }
  | { readonly kind: "warned"; readonly text: string }
  /** Its jobs have no memory limit, although they should. */
  | { readonly kind: "unlimited"; readonly slot: number; readonly reason: string }
  | { readonly kind: "idle"; readonly slot: number }
  /** It found room for another slot, which has a log of its own. */
  | { readonly kind: "added"; readonly slot: number; readonly added: number }
  | { readonly kind: "freed"; readonly key: string }
  /** `number`: the number of this drain, or the last drain that an opening ends; null: one log for all, read in order. */
  | { readonly kind: "draining"; readonly number: number | null }
  /** `holder`: the process on the machine that represents the client this is meant for. */
  | { readonly kind: "halting"; readonly holder: number }
  | { readonly kind: "opened"; readonly number: number | null }
  /** Longer than any line of sshoal, and skipped. */
  | { readonly kind: "overlong" };

/** Most ends have no facts: they share this map. */
const NO_FACTS: ReadonlyMap<string, string> = new Map();

/** Null for a line that is no event: cut by a full disk, or written by a later version. */
export function parseSpoolEvent(line: string, clock: MachineClock | null = null): SpoolEvent | null {
  const [kind, first = "", second = "", third = "", fourth = ""] = line.split(" ");
  switch (kind) {
    case "started":
      if (!isAttemptKey(first) || !isNumber(second)) return null;
      return {
        kind,
        key: first,
        slot: Number(second),
        startedAt: timeOnClock(clock, third, fourth),
        facts: parseFacts(line),
      };
    case "ended": {
      const outcome = parseExit(third);
      if (!isAttemptKey(first) || !isNumber(second) || !isNumber(fourth) || outcome === null) return null;
      const facts = parseFacts(line);
      const about = { key: first, slot: Number(second), durationMs: Number(fourth) };
      return { kind, ...about, outcome: withCause(outcome, facts), facts };
    }
    case "waiting":
    case "unlimited":
      return isNumber(first)
        ? { kind, slot: Number(first), reason: line.split(" ").slice(2).join(" ") }
        : null;
    case "waits":
      if (!isNumber(first) || !isAttemptKey(second)) return null;
      return { kind, slot: Number(first), key: second, reasons: line.split(" ").slice(4, MAX_REASONS) };
    case "warned":
      return isNumber(first) ? { kind, text: line.split(" ").slice(2).join(" ") } : null;
    case "idle":
      return isNumber(first) ? { kind, slot: Number(first) } : null;
    case "added":
      return isNumber(first) && isNumber(second)
        ? { kind, slot: Number(first), added: Number(second) }
        : null;
    case "freed":
      return isAttemptKey(first) ? { kind, key: first } : null;
    case "halting":
      return isNumber(first) ? { kind, holder: Number(first) } : null;
    case "draining":
    case "opened":
      return { kind, number: isNumber(first) ? Number(first) : null };
    default:
      return null;
  }
}

/** More words than any version writes are not read: the line comes from a machine. */
const MAX_FACTS = 32;
const MAX_REASONS = 200;
const FACT = /^([A-Za-z0-9._-]{1,64})=([A-Za-z0-9._,:/@-]{1,512})$/;

/** The `name=value` words after the duration. */
function parseFacts(line: string): ReadonlyMap<string, string> {
  const words = line.split(" ").slice(5, 5 + MAX_FACTS);
  if (words.length === 0) return NO_FACTS;
  return new Map(words.flatMap((word) => parseFact(word) ?? []));
}

function parseFact(word: string): [[string, string]] | null {
  const [, name, value] = FACT.exec(word) ?? [];
  return name === undefined || value === undefined ? null : [[name, value]];
}

/** Parses the content of `exit`: an exit code of the shell, or a word for what sshoal did to the job. */
export function parseExit(text: string): Outcome | null {
  if (text === "timed-out" || text === "stopped") return { kind: text };
  if (text === "lost") return { kind: "lost", reason: "its machine or its slot went down" };
  if (!isNumber(text)) return null;
  const code = Number(text);
  const signal = code > 128 ? SIGNALS.get(code - 128) : undefined;
  return signal === undefined ? { kind: "exited", code } : { kind: "killed", signal };
}

// Linux numbers on any client, because the machine made the code.
const SIGNALS = new Map<number, string>([
  [1, "SIGHUP"],
  [2, "SIGINT"],
  [3, "SIGQUIT"],
  [4, "SIGILL"],
  [6, "SIGABRT"],
  [7, "SIGBUS"],
  [8, "SIGFPE"],
  [9, "SIGKILL"],
  [11, "SIGSEGV"],
  [13, "SIGPIPE"],
  [14, "SIGALRM"],
  [15, "SIGTERM"],
  [24, "SIGXCPU"],
  [25, "SIGXFSZ"],
]);

function isNumber(word: string): boolean {
  return /^\d{1,12}$/.test(word);
}
