// The signals by which a person, a terminal or the system ends a command.

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** They do not end the process until the returned function is called, which stops listening. */
export function onEndingSignals(act: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of SIGNALS) process.on(signal, act);
  return () => {
    for (const signal of SIGNALS) process.off(signal, act);
  };
}

/** A second one of the same kind ends the process. */
export function onFirstEndingSignals(act: () => void): void {
  for (const signal of SIGNALS) process.once(signal, act);
}
