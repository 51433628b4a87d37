// The option --broker: which queues are meant.

import { Option } from "commander";

export function brokerOption(): Option {
  return new Option(
    "--broker <address>",
    "use the queues at HOST:PORT, with a token, or at USER@HOST, through ssh (default: this computer)",
  );
}

/** Its value in words that were not read yet; null: they have none. */
export function brokerIn(words: readonly string[]): string | null {
  const at = words.findLastIndex((word) => /^--broker(=|$)/.test(word));
  if (at === -1) return null;
  return words[at]?.match(/^--broker=(.*)$/s)?.[1] ?? words[at + 1] ?? null;
}
