// Sweeps for tests, from what is typed.

import { parseRule } from "../../../src/input/sweep/sweep-rule.js";
import { parseSweepWords } from "../../../src/input/sweep/sweep-words.js";
import type { Rule, Sweep } from "../../../src/model/sweep.js";
import { type Defaults, formatCommands } from "../../../src/sweep/commands.js";

export function aSweep(
  command: string,
  parameters: readonly (readonly string[])[],
  over: Partial<Sweep> = {},
) {
  const nothing = { when: [], reject: [], samples: null, seed: null, samplingMode: null };
  return { ...nothing, ...parseSweepWords(command, parameters), ...over };
}

export function aRule(text: string): Rule {
  const parsed = parseRule(text);
  if ("message" in parsed) throw new Error(parsed.message);
  return { text, where: "s.yaml:1:1", condition: parsed.condition };
}

export function commandsOf(sweep: Sweep, defaults: Partial<Defaults> = {}): string[] {
  return formatCommands(sweep, { seed: 0, samplingMode: null, quotes: true, ...defaults }).map(
    ({ command }) => command,
  );
}
