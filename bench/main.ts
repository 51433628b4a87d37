// Measures one theme after the other on the same machines and prints the result, also to docs/benchmarks.md.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { giveToRemote } from "../test/rig/account.js";
import { describeCalm } from "./calm.js";
import { connecting } from "./connecting.js";
import { deciding } from "./deciding.js";
import { distant } from "./distant.js";
import { manyBytes } from "./many-bytes.js";
import { manyJobs } from "./many-jobs.js";
import { manyLines } from "./many-lines.js";
import { manyResults } from "./many-results.js";
import { oneJob } from "./one-job.js";
import { queue } from "./queue.js";
import { queueStore } from "./queue-store.js";
import { formatReport, type Row, saveReport } from "./report.js";
import { type Rig, startRig } from "./rig.js";
import { room } from "./room.js";
import { server } from "./server.js";
import { staging } from "./staging.js";
import { describeSurroundings, missingPrograms } from "./surroundings.js";
import { workCopies } from "./work-copies.js";

const THEMES: Readonly<Record<string, (rig: Rig) => Promise<Row[]>>> = {
  "many-jobs": manyJobs,
  "one-job": oneJob,
  distant,
  connecting,
  "many-bytes": manyBytes,
  staging,
  "work-copies": workCopies,
  "many-results": manyResults,
  "many-lines": manyLines,
  deciding,
  "queue-store": queueStore,
  queue,
  server,
  room,
};
const DEADLINE_MS = 90 * 60_000;

interface Invocation {
  /** The built command. */
  readonly program: string;
  /** The page for the tables. */
  readonly report: string;
  /** Empty: all of them. Only then the page is written. */
  readonly themes: readonly string[];
}

/** Resolves with the exit code. */
export async function main({ program, report, themes }: Invocation): Promise<number> {
  const unknown = themes.filter((name) => !(name in THEMES));
  if (unknown.length > 0) return fail(`no theme ${unknown.join(", ")}: ${Object.keys(THEMES).join(", ")}`);
  const missing = missingPrograms();
  if (missing.length > 0) return fail(`install first: apt-get install ${missing.join(" ")}`);

  const surroundings = describeSurroundings();
  const interrupted = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(name, () => interrupted.abort(new Error(name)));
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(DEADLINE_MS)]);
  const place = await mkdtemp(join(tmpdir(), "sshoal-bench-"));
  giveToRemote(place);
  // All files from here on are created there, and removed with it in any case.
  process.env.TMPDIR = place;
  let rig: Rig | undefined;
  try {
    rig = await startRig(program, signal);
    const rows: Row[] = [];
    for (const [name, measure] of Object.entries(THEMES))
      if (themes.length === 0 || themes.includes(name)) rows.push(...(await measure(rig)));
    const text = formatReport([...surroundings, describeCalm()], rows);
    console.log(text);
    if (themes.length === 0) await saveReport(report, text);
    return 0;
  } catch (error) {
    return fail(String(signal.aborted ? signal.reason : (error as Error).stack));
  } finally {
    await rig?.stop();
    await rm(place, { recursive: true, force: true, maxRetries: 5 });
  }
}

function fail(message: string): number {
  console.error(`error: ${message}`);
  return 1;
}
