// `sshoal why`: explains why jobs wait, machine by machine. It changes nothing.

import type { Connector } from "../../batch/connector.js";
import { type BatchHere, loadBatches } from "../../batch/find/batches-here.js";
import { chooseJobs } from "../../batch/name/choose-jobs.js";
import { explainHere } from "../../batch/why/explain-here.js";
import { ExitCode } from "../../errors.js";
import type { Job } from "../../model/job.js";
import type { WhyBatch } from "../../model/why.js";
import { whyJson, whyLines } from "../../report/tables/why-lines.js";
import { printable } from "../../report/text/printable.js";
import { Results } from "../../run/home/results.js";
import type { WhyOptions } from "../options/why-options.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { note } from "../terminal/note.js";
import { tableLook } from "../terminal/table-look.js";

export async function why(options: WhyOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const { fleet } = lastingConnector(surroundings, options, note);
  // Batches that use the same machine share its connection.
  const connect: Connector = async (machine, signal) => (await fleet.borrow(machine, signal)).session;
  const means = { results, surroundings, connect, now: Date.now() };
  const chosen = choose(loadBatches(results), options.words);
  const all = await Promise.all(chosen.map(({ here, jobs }) => explainHere(here, jobs, means)));
  const lines = options.isJson ? all.flatMap(whyJson) : textOf(all);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return isAnyReached(all) ? ExitCode.Success : ExitCode.NoMachine;
}

/** `jobs`: null: all that wait. */
function choose(
  batches: readonly BatchHere[],
  words: readonly string[],
): { readonly here: BatchHere; readonly jobs: readonly Job[] | null }[] {
  if (words.length === 0) return batches.map((here) => ({ here, jobs: null }));
  return chooseJobs(batches, { words, states: [] }).map(({ here, jobs, isWhole }) => ({
    here,
    jobs: isWhole ? null : jobs,
  }));
}

function textOf(all: readonly WhyBatch[]): string[] {
  const explained = all.filter(({ jobs }) => jobs.length > 0);
  if (explained.length === 0) return ["no job waits"];
  const { rowColumns } = tableLook();
  return explained.flatMap((each, index) => [
    ...(index > 0 ? [""] : []),
    ...(explained.length > 1 ? [printable(each.stem)] : []),
    ...whyLines(each, rowColumns),
  ]);
}

/** True if no job waits: then no machine was needed. */
function isAnyReached(all: readonly WhyBatch[]): boolean {
  const machines = all.flatMap(({ jobs }) =>
    jobs.flatMap((job) => (job.kind === "waits" ? job.machines : [])),
  );
  return machines.length === 0 || machines.some(({ kind }) => kind !== "unreachable");
}
