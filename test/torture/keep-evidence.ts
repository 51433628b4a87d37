// Copies everything that a round with problems left, for people who look for the cause.

import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Machine } from "./machines.js";
import type { RoundOutcome } from "./round.js";

/** Returns the directory. */
export function keepEvidence(outcome: RoundOutcome, machines: readonly Machine[], name: string): string {
  const { problems, struck, clients, workDir } = outcome;
  const kept = mkdtempSync(join(tmpdir(), `sshoal-torture-${name}-`));
  const copy = (from: string, to: string) => execFileSync("cp", ["-a", from, join(kept, to)]);
  copy(workDir, "work");
  for (const { host } of machines) copy(host.homeDir, host.name);
  for (const [index, { endedBy, code, stdout, stderr }] of clients.entries())
    writeFileSync(join(kept, `client-${index + 1}`), `${stdout}${stderr}ended by ${endedBy}, code ${code}\n`);
  const found = problems.map(({ kind, text }) => `${kind}: ${text}`);
  writeFileSync(join(kept, "problems"), [...struck, "", ...found, ""].join("\n"));
  return kept;
}
