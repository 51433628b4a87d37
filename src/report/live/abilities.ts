// What a terminal can do, judged from its size and the environment as the command line read them (pure).

export interface Abilities {
  /** The live view can be drawn; otherwise plain lines are the better choice. */
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
  // A pseudo-terminal that nobody gave a size reports 0 by 0.
  const hasSize = (columns ?? 0) > 0 && (rows ?? 0) > 0;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  return {
    canRedraw: isTTY && !isDumb && hasSize,
    useColour: isTTY && !isDumb && (env.NO_COLOR ?? "") === "",
    useUnicode: /utf-?8/i.test(locale) || env.WT_SESSION !== undefined,
  };
}
