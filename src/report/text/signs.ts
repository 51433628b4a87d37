// The signs for states, bars and separators, in Unicode and in plain ASCII.

import type { JobWord } from "../../model/standing.js";

export interface Signs {
  readonly ellipsis: string;
  readonly separator: string;
  /** Between keys, whose descriptions may have commas. */
  readonly keyGap: string;
  /** `silent`: a running job that has printed nothing for a long time. */
  readonly states: Readonly<Record<JobWord | "silent", string>>;
  /** The pieces differ in shape, for people who see no colours. */
  readonly bar: Readonly<Record<"done" | "failed" | "running" | "waiting", string>>;
  /** Memory of a card or a machine. */
  readonly memory: Readonly<Record<"ours" | "others" | "free", string>>;
}

export function signsOf(useUnicode: boolean): Signs {
  return useUnicode ? UNICODE : ASCII;
}

const UNICODE: Signs = {
  ellipsis: "…",
  separator: " · ",
  keyGap: " · ",
  states: {
    succeeded: "✓",
    failed: "✗",
    running: "●",
    waiting: "○",
    stopped: "■",
    lost: "?",
    skipped: "»",
    silent: "!",
  },
  bar: { done: "━", failed: "╳", running: "╍", waiting: "─" },
  memory: { ours: "█", others: "▒", free: "░" },
};

const ASCII: Signs = {
  ellipsis: "...",
  separator: ", ",
  keyGap: " | ",
  states: {
    succeeded: "+",
    failed: "x",
    running: "*",
    waiting: ".",
    stopped: "#",
    lost: "?",
    skipped: ">",
    silent: "!",
  },
  bar: { done: "=", failed: "x", running: "-", waiting: "." },
  memory: { ours: "#", others: "%", free: ":" },
};
