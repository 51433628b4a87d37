// Gathers what the audit of a round needs: reports, records, results and ledgers.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type JsonEvent, listBelow, parseEvents } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import type { Evidence, Result, Status } from "./audit.js";
import { parseLedger } from "./ledger-entries.js";
import type { Machine } from "./machines.js";

type Gathered = Pick<Evidence, "entries" | "record" | "statuses" | "results">;

export async function gather(workDir: string, machines: readonly Machine[]): Promise<Gathered> {
  const results = join(workDir, "job_results");
  return {
    entries: machines.flatMap((machine) => parseLedger(machine.name, machine.readLedger())),
    record: readRecord(join(results, ".sshoal/jobs.sh.jsonl")),
    statuses: await askStatuses(workDir),
    results: readResults(results),
  };
}

async function askStatuses(workDir: string): Promise<Status[]> {
  const { stdout } = await runCommand(["status", "--json"], { cwd: workDir, program: "sshoal" });
  return parseEvents(stdout) as unknown as Status[];
}

function readRecord(path: string): JsonEvent[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  return parseEvents(text.slice(0, text.lastIndexOf("\n") + 1));
}

/** Results whose directory is in place, which means that they are complete. */
function readResults(dir: string): Map<string, Result> {
  if (!existsSync(dir)) return new Map();
  const names = readdirSync(dir, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== ".sshoal",
  );
  return new Map(names.map(({ name }) => [name, readResult(dir, name)]));
}

function readResult(dir: string, name: string): Result {
  const read = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");
  const files = listBelow(join(dir, name)).map((path) => [path, read(join(dir, name, path))]);
  return { out: read(join(dir, `${name}.out`)), files: Object.fromEntries(files) };
}
