// Decides what a terminal can do, from its size and the environment (pure).

export interface Abilities {
  /** True if the live view can be drawn; otherwise plain lines are used. */
  readonly canRedraw: boolean;
  readonly useColour: boolean;
  readonly useUnicode: boolean;
}

export interface TerminalFacts {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function abilitiesOf({ isTTY, columns, rows, env }: TerminalFacts): Abilities {
  const isDumb = env.TERM === undefined ? env.WT_SESSION === undefined : env.TERM === "dumb";
  // A pseudo-terminal without a size reports 0 by 0.
  const hasSize = (columns ?? 0) > 0 && (rows ?? 0) > 0;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  return {
    canRedraw: isTTY && !isDumb && hasSize,
    useColour: isTTY && !isDumb && (env.NO_COLOR ?? "") === "",
    useUnicode: /utf-?8/i.test(locale) || env.WT_SESSION !== undefined,
  };
}
