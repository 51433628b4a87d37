// Checks whether a machine can enforce the memory that jobs ask for (--limit-memory).

import type { Check, HostFacts } from "../model/examination.js";

/** Jobs run without a limit where there is none, so this is never bad. */
export function checkLimit({ memoryLimit }: HostFacts): Check[] {
  if (memoryLimit === null) return [];
  const check = "memory limit";
  if (memoryLimit === "works") return [{ check, verdict: "ok", says: "--limit-memory works", fix: null }];
  const says = `--limit-memory has no effect: ${memoryLimit}`;
  const fix = "it needs systemd with control groups v2, and on the machine: loginctl enable-linger";
  return [{ check, verdict: "warn", says, fix }];
}
